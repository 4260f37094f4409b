package plan

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

const readCommitted = "read committed"

// choose picks the fastest strategy that is right, and says what ruled out the
// faster ones.
func (p *planner) choose() (Strategy, string) {
	if reason := p.whyStepped(); reason != "" {
		return Stepped, reason
	}
	if !p.op.Key.Protects() {
		return Direct, ""
	}
	if reason := p.units[0].whyVerbatim(); reason != "" {
		return Verbatim, reason
	}
	return Fused, ""
}

// whyStepped says why the operation needs a transaction of several round
// trips; "" if it doesn't.
func (p *planner) whyStepped() string {
	u := p.units[0]
	iso := p.op.Policy.Isolation
	switch {
	case p.op.Durable():
		return p.whyDurable()
	case slices.ContainsFunc(p.units, func(u *unit) bool { return u.step.Go != nil }):
		return "Go code runs inside the transaction"
	case len(p.units) > 1:
		return fmt.Sprintf("%d statements", len(p.units))
	case u.step.Each != nil:
		return "the statement runs once per element of " + u.step.Each.Name
	case u.batch():
		return "a batch command (:" + u.query.Command + ")"
	case iso != "" && iso != readCommitted:
		return "isolation " + iso
	case p.op.Policy.Sealed:
		return "record=sealed: the answer is sealed before it is stored"
	case u.query.Shape.TargetTraits.Rules:
		return u.written() + " has rules, which PostgreSQL refuses inside WITH"
	}
	return ""
}

// written names what the statement writes. The tables behind a view act for it;
// one that no migration makes may have anything.
func (u *unit) written() string {
	target := u.query.Shape.Target.String()
	if u.query.Shape.TargetTraits.View {
		return "the view " + target + ", or what is behind it,"
	}
	return "the table " + target
}

// whyVerbatim says why a condition can't gate the statement, or would show.
func (u *unit) whyVerbatim() string {
	shape := u.query.Shape
	switch {
	case shape.TargetTraits.StatementTriggers:
		return u.written() + " has statement-level triggers, which would fire on a replay"
	case u.stmt.ModifyingCTEs():
		return "common table expressions of the statement write"
	case shape.SkipLocked:
		return "SKIP LOCKED or NOWAIT must come after the claim"
	case shape.EarlyCalls:
		return "a sub-select in FROM or WITH calls a function that has an effect: a condition may come too late"
	case u.stmt.Kind == model.Insert:
		return u.whyInsertVerbatim()
	case u.stmt.Kind == model.Select && !u.plainSelect(u.stmt):
		return "aggregates, functions that may be aggregates, set operations or LIMIT: a condition inside would still give a row"
	}
	return ""
}

func (u *unit) whyInsertVerbatim() string {
	switch source := u.stmt.Source; {
	case source.Kind == sqltext.SourceValues && len(source.Rows) != 1:
		return "a VALUES list of several rows"
	case source.Kind == sqltext.SourceSelect && (u.source == nil || !u.plainSelect(u.source)):
		return "the rows come from a query with aggregates, functions that may be aggregates, set operations or LIMIT"
	}
	return ""
}

// plainSelect reports whether a condition in the WHERE of s decides about
// every row that s gives.
func (u *unit) plainSelect(s *sqltext.Statement) bool {
	return !u.query.Shape.Grouped && s.Kind == model.Select && isSelectVerb(s) && len(s.SetOps) == 0 &&
		s.GroupBy == nil && s.Having == nil && s.Window == nil && s.Limit == nil && s.Offset == nil
}
