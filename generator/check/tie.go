package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// Keys belong to the scope, so rows should too: a tenant that the request
// names can be anybody's. The scope's own parameter must come from the caller,
// unless a bind says in so many words that the request may choose it.

// tie checks where the parameters that say whose a row is come from.
func (b *builder) tie() {
	field := b.scopeField()
	if field == "" {
		return
	}
	uses := b.usesCaller(b.op)
	for i, step := range b.op.Steps {
		sd := &b.d.steps[i]
		for n, p := range step.Query.Params {
			if !fromRequest(step, n+1) {
				continue
			}
			bind, named := b.bindOf(sd, p.Name), sameField(p.Name, field)
			switch {
			case named && bind == nil:
				b.forged(sd.paramPos(p.Name), p.Name, step.Args[n], field)
			case named && (b.d.words.Webhook != nil || b.d.words.Consume != nil): // the system or the broker says it, which is authenticated
			case named:
				b.diags.Warnf(diag.ScopeForged, bind.Source.Pos, "@%s comes from %s: any caller can name another's %s", p.Name, sourceText(bind.Source), field).
					Hint("bind it to caller.%s, unless the operation is for callers that may act for all of them", field)
			case bind == nil && !uses && reachesColumn(step, n+1, field):
				b.forged(sd.paramPos(p.Name), p.Name, step.Args[n], field)
			}
		}
	}
}

// forged reports a parameter that says whose a row is and that the request
// fills, because nothing says otherwise.
func (b *builder) forged(pos diag.Pos, param string, src model.Source, field string) {
	b.tied[b.op] = true // reported: not a second time by untied
	key := inputKey{src.Input.From, src.Input.Name}
	b.diags.Errorf(diag.ScopeForged, pos, "@%s says whose the row is, and %s says it: any caller could name another's %s", param, key, field).
		Hint("add bind: {%s: caller.%s} to %s; or, if the caller may choose, write @bind %s %s", param, field, b.in.Config.File, param, key)
}

// scopeField is the caller's field that keys belong to, "" without a scope.
func (c *checker) scopeField() string {
	if c.svc.ScopeSource.Kind != model.SourceInput {
		return ""
	}
	return c.svc.ScopeSource.Input.Name
}

// sameField compares names whatever their case: tenantId is tenant_id.
func sameField(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

// reachesColumn reports whether a parameter, or a column of its recordset, is
// stored in or compared with a column of that name.
func reachesColumn(step *model.Step, param int, column string) bool {
	shape := &step.Query.Shape
	for _, f := range shape.Feeds {
		if f.Param == param && sameField(f.Column, column) {
			return true
		}
	}
	for _, rs := range shape.Recordsets {
		for _, rc := range rs.Columns {
			if rs.Param == param && sameField(rc.Column, column) {
				return true
			}
		}
	}
	return false
}

// usesCaller reports whether a statement of the operation, or a setting of its
// session, knows who calls.
func (c *checker) usesCaller(op *model.Operation) bool {
	isCaller := func(src model.Source) bool {
		return src.Kind == model.SourceScope ||
			src.Kind == model.SourceInput && src.Input != nil && src.Input.From == model.FromCaller
	}
	for _, v := range c.in.Config.Session {
		if v.Source.Kind == spec.SourceCaller || v.Source.Kind == spec.SourceScope {
			return true
		}
	}
	return slices.ContainsFunc(op.Steps, func(s *model.Step) bool { return slices.ContainsFunc(s.Args, isCaller) })
}

// untied reports operations whose statements do the same for every caller. It
// is an error where the configuration ties the scope to a parameter that no
// query has, though the table that is written has such a column: the bind looks
// like a protection and is none.
func (c *checker) untied() {
	field := c.scopeField()
	if field == "" {
		return
	}
	idle := c.idleScopeBind()
	for _, op := range c.svc.Operations {
		table, writes := c.writtenWith(op, field)
		if op.Delivered() || c.tied[op] || c.usesCaller(op) || !op.Key.Protects() && !writes {
			continue
		}
		switch {
		case table != "" && idle != "":
			c.diags.Errorf(diag.ScopeUnused, op.Pos, "%s writes %s for any caller: no parameter is named @%s, which `bind:` ties to caller.%s", op.Name, table, idle, field).
				Hint("use @%s in the SQL for the column that says whose the row is", idle)
		case table != "":
			c.diags.Warnf(diag.ScopeUnused, op.Pos, "%s writes %s, but nothing in it depends on the caller", op.Name, table).
				Hint("use @%s in the SQL, bound to caller.%s; without it every caller reaches every row", field, field)
		default:
			c.diags.Warnf(diag.ScopeUnused, op.Pos, "%s has a key of its caller, but does the same for every caller", op.Name).
				Hint("bind a parameter to caller.%s if its rows belong to someone", field)
		}
	}
}

// idleScopeBind is a parameter of `bind:` that is tied to the scope and that no
// query has, "" if there is none.
func (c *checker) idleScopeBind() string {
	for _, b := range c.in.Config.Bind {
		scope := b.Source.Kind == spec.SourceScope ||
			b.Source.Kind == spec.SourceCaller && len(b.Source.Path) == 1 && b.Source.Path[0] == c.scopeField()
		if scope && !c.hasParam(b.Param.Value) {
			return b.Param.Value
		}
	}
	return ""
}

func (c *checker) hasParam(name string) bool {
	for _, q := range c.in.Queries {
		for _, p := range q.Params {
			if p.Name == name {
				return true
			}
		}
	}
	return false
}

// writtenWith is a table with such a column that an operation writes, and
// whether it writes at all.
func (c *checker) writtenWith(op *model.Operation, column string) (table string, writes bool) {
	for _, step := range op.Steps {
		for _, name := range step.Query.Shape.Writes {
			writes = true
			found := c.cat.Table(name)
			if found == nil {
				continue
			}
			if slices.ContainsFunc(tableColumns(found), func(col string) bool { return sameField(col, column) }) {
				return found.Name.Name, true
			}
		}
	}
	return "", writes
}
