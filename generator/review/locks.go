package review

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/schema"
)

// The kinds of lock.
const (
	lockAdvisory = "advisory"
	lockRows     = "rows"
	lockUnique   = "unique"
)

const keyTable = "idem.keys"

// locks lists what an operation takes or waits for, in order. Table locks are
// left out: what reads and writes never waits for each other there.
func (src Source) locks(p *plan.Operation) []Lock {
	l := lockList{src: src, op: p.Model}
	keyed := p.Model.Key.Protects()
	rowFirst := p.Strategy == plan.Verbatim || p.Strategy == plan.Stepped && isolated(p.Model)
	if p.Model.Durable() {
		return l.durable()
	}
	if keyed && (p.Strategy == plan.Stepped || p.Strategy == plan.Fused && p.Model.Policy.Wait == 0) {
		l.advisory(p.Model.Policy.Wait == 0)
	}
	if keyed && rowFirst {
		l.record("the claim: a copy of this request waits here, until this one ends")
	}
	for _, s := range p.Model.Steps {
		l.step(s)
		if p.Strategy != plan.Fused {
			l.flush()
		}
	}
	if keyed && !rowFirst {
		l.record("the record: a copy of this request that was faster makes this fail, and all is undone")
	}
	l.flush()
	return l.out
}

func isolated(op *model.Operation) bool {
	iso := op.Policy.Isolation
	return iso != "" && iso != "read committed"
}

type lockList struct {
	src Source
	op  *model.Operation
	out []Lock
	at  string // the step that is being read
	// late are those of foreign keys, which PostgreSQL checks when a statement
	// ends: of a fused one, after the record.
	late []Lock
}

func (l *lockList) flush() {
	for _, lock := range l.late {
		l.add(lock)
	}
	l.late = nil
}

func (l *lockList) add(lock Lock) {
	if len(l.op.Steps) > 1 {
		lock.Step = l.at
	}
	same := func(o Lock) bool {
		return o.Kind == lock.Kind && o.Object == lock.Object && o.Mode == lock.Mode && o.Step == lock.Step
	}
	if !slices.ContainsFunc(l.out, same) {
		l.out = append(l.out, lock)
	}
}

func (l *lockList) advisory(try bool) {
	lock := Lock{Kind: lockAdvisory, Object: "the identity (scope, operation, key)", Mode: "pg_advisory_xact_lock",
		Why: "a copy of this request waits here for " + duration(l.op.Policy.Wait)}
	if try {
		lock.Mode, lock.Why = "pg_try_advisory_xact_lock", "a copy of this request is refused here at once"
	}
	l.out = append(l.out, lock)
}

func (l *lockList) record(why string) {
	l.out = append(l.out, Lock{Kind: lockUnique, Object: "keys_pkey of " + keyTable + " (scope, digest)", Rows: "one", Why: why})
}

func (l *lockList) step(s *model.Step) {
	l.at = s.Name
	if s.Go != nil {
		l.add(Lock{Kind: lockRows, Object: "whatever the Go function " + s.Go.Func + " locks", Why: "its SQL is not known to idemgen"})
		return
	}
	for _, v := range verbs(s.Query.SQL) {
		l.verb(s, v)
	}
	if s.Query.Shape.TargetTraits.OtherWrites {
		l.add(Lock{Kind: lockRows, Object: "whatever triggers and functions of the tables lock", Why: "their SQL is not looked into"})
	}
	if s.Query.Shape.Calls {
		l.add(Lock{Kind: lockRows, Object: "whatever functions of yours lock", Why: "their SQL is not looked into"})
	}
}

func (l *lockList) verb(s *model.Step, v verb) {
	t := l.src.Catalog.Table(v.table)
	switch v.kind {
	case model.Select:
		l.add(Lock{Kind: lockRows, Object: v.objects(), Mode: v.mode, Rows: l.rows(s, v, t)})
	case model.Insert:
		l.insert(v, t)
	case model.Update:
		l.add(Lock{Kind: lockRows, Object: v.table.String(), Mode: updateMode(t, v.columns), Rows: l.rows(s, v, t)})
		l.written(v, t)
	case model.Delete:
		l.add(Lock{Kind: lockRows, Object: v.table.String(), Mode: "FOR UPDATE", Rows: l.rows(s, v, t)})
		l.referring(t)
	}
}

// updateMode is how an UPDATE of the columns locks a row: the stronger way where
// a foreign key could refer to one of them (PostgreSQL, Row-Level Locks).
func updateMode(t *schema.Table, columns []string) string {
	key := func(u *schema.Unique) bool { return u.Where == "" && overlap(u.Columns, columns) }
	if t != nil && slices.ContainsFunc(t.Uniques, key) {
		return "FOR UPDATE"
	}
	return "FOR NO KEY UPDATE"
}

func (l *lockList) insert(v verb, t *schema.Table) {
	if v.conflict != nil {
		l.add(Lock{Kind: lockRows, Object: v.table.String(), Mode: updateMode(t, v.conflict), Rows: "one for each row that is there already"})
	}
	l.written(v, t)
}

// written are the waits for what the values must agree with.
func (l *lockList) written(v verb, t *schema.Table) {
	if t == nil {
		return
	}
	columns := v.columns
	if columns == nil {
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
	}
	for _, f := range t.ForeignKeys {
		if overlap(f.Columns, columns) {
			l.late = append(l.late, Lock{Kind: lockRows, Object: shortName(f.References), Mode: "FOR KEY SHARE", Rows: "one for each row written", Why: "the foreign key " + f.Name})
		}
	}
	for _, u := range t.Uniques {
		if u.Columns == nil || overlap(u.Columns, columns) {
			l.add(Lock{Kind: lockUnique, Object: u.Name + " of " + v.table.String() + " (" + uniqueColumns(u) + ")",
				Why: "waits for a transaction that writes the same values"})
		}
	}
}

func uniqueColumns(u *schema.Unique) string {
	if u.Columns == nil {
		return "an expression"
	}
	return strings.Join(u.Columns, ", ")
}

// referring are the rows that a DELETE looks at or changes in other tables.
func (l *lockList) referring(t *schema.Table) {
	if t == nil {
		return
	}
	for _, other := range l.src.Catalog.Tables {
		for _, f := range other.ForeignKeys {
			if f.References != t.Name {
				continue
			}
			lock := Lock{Kind: lockRows, Object: shortName(other.Name), Mode: "FOR KEY SHARE", Rows: "those that refer to the row", Why: "the foreign key " + f.Name}
			if f.Cascades {
				lock.Mode, lock.Why = "FOR UPDATE", lock.Why+", which cascades"
			}
			l.late = append(l.late, lock)
		}
	}
}

// rows says how many rows, and in which order.
func (l *lockList) rows(s *model.Step, v verb, t *schema.Table) string {
	feeds := s.Query.Shape.Feeds
	if !v.top { // what the whole compares says nothing about one part
		feeds = l.src.Catalog.Analyze(v.text, diag.Pos{}, &diag.List{}).Feeds
	}
	var compared []string
	for _, f := range feeds {
		if !f.Assigned && f.Table.Name == v.table.Name {
			compared = append(compared, f.Column)
		}
	}
	switch {
	case pinned(t, compared) || v.one:
		return "one"
	case v.order != "":
		return "in the order of " + v.order
	}
	return "in no set order, where there are several"
}
