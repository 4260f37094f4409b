package plan

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// steps are the sections of a stepped operation.
func (p *planner) steps() []Statement {
	out := make([]Statement, 0, len(p.units))
	for _, u := range p.units {
		if u.step.Go == nil {
			out = append(out, p.stepStatement(u))
		}
	}
	return out
}

func (p *planner) stepStatement(u *unit) Statement {
	ps := u.userParams()
	needs, items := p.needs(u)
	s := Statement{Name: "step." + u.step.Name, Args: ps.args, Step: u.step, Results: needs}
	switch {
	case needs.RowsAffected:
		s.SQL = ps.comment() + u.stmt.Text[u.stmt.Start:u.stmt.End] + ";\n"
	case u.query.Shape.TargetTraits.Rules:
		s.SQL = ps.comment() + u.returningOnly(items) + ";\n"
	default:
		sql := u.userCTE("idem_step")
		sql.ctes = append(sql.ctes, u.eventCTEs(ps, "idem_step", "")...)
		s.Args = ps.args
		sql.main = selectItems(items) + "\nFROM idem_step s"
		s.SQL = ps.comment() + sql.text()
	}
	return s
}

// selectItems is a SELECT, also of nothing: rows count all the same.
func selectItems(items []string) string {
	if len(items) == 0 {
		return "SELECT"
	}
	return "SELECT\n" + indent(strings.Join(items, ",\n"), "  ")
}

// returningOnly computes the results in the RETURNING list itself: PostgreSQL
// refuses a statement on a table with rules inside WITH.
func (u *unit) returningOnly(items []string) string {
	ret := u.stmt.Returning
	if ret == nil {
		return u.stmt.Text[u.stmt.Start:u.stmt.End]
	}
	names := make([]string, len(u.slots))
	for i, s := range u.slots {
		names[i] = sqltext.QuoteIdent(s.name)
	}
	row := "(SELECT " + ret.Body.In(u.stmt.Text) + ") AS s (" + strings.Join(names, ", ") + ")"
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = "(SELECT " + item + "\nFROM " + row + ")"
	}
	if len(out) == 0 {
		out = []string{"true"}
	}
	return apply(u.stmt.Text, sqltext.Span{Start: u.stmt.Start, End: u.stmt.End},
		edit{ret.Span, "RETURNING\n" + indent(strings.Join(out, ",\n"), "  ")})
}

// needs says which results of a step the rest of the operation reads, and
// their expressions over the row s.
func (p *planner) needs(u *unit) (Results, []string) {
	var res Results
	var items []string
	r := p.renderer()
	headers := u.headersOf(r, "s")
	if u.exec() && headers == "" {
		return Results{RowsAffected: true}, nil
	}
	if u.exec() {
		return Results{Headers: true}, []string{headers + "::text AS headers"}
	}
	p.responseNeeds(u, p.op.Response, &res)
	if res.Row {
		items = append(items, r.rowText(tree(u.visible()), "s")+" AS body")
	}
	for _, name := range res.JSON {
		items = append(items, r.columnText(u.slots, name, "s")+" AS "+sqltext.QuoteIdent(name))
	}
	items = append(items, u.rules(&res)...)
	if headers != "" {
		res.Headers = true
		items = append(items, headers+"::text AS headers")
	}
	res.Text = p.boundColumns(u)
	for _, name := range res.Text {
		if s := u.find(name); s != nil {
			items = append(items, r.bind("s."+sqltext.QuoteIdent(s.name), s.typ)+" AS "+sqltext.QuoteIdent(s.name))
		}
	}
	return res, items
}

// rules are the booleans of @require and @status, in that order.
func (u *unit) rules(res *Results) []string {
	var items []string
	for _, rule := range u.step.Requires {
		if s := u.find(rule.Column); s != nil {
			res.Requires++
			items = append(items, isTrue(s))
		}
	}
	for _, rule := range u.step.Statuses {
		if s := u.find(rule.Column); s != nil {
			res.Statuses++
			items = append(items, isTrue(s))
		}
	}
	return items
}

// isTrue is a rule's boolean: NULL is not true.
func isTrue(s *slot) string {
	name := sqltext.QuoteIdent(s.name)
	return "s." + name + " IS TRUE AS " + name
}

// responseNeeds collects what a response reads from a step.
func (p *planner) responseNeeds(u *unit, resp model.Response, res *Results) {
	switch {
	case resp.Kind == model.ResponseObject:
		for _, m := range resp.Members {
			p.responseNeeds(u, m.Value, res)
		}
	case resp.Step != u.step.Name && (resp.Step != "" || len(p.units) > 1):
	case resp.Kind == model.ResponseStep:
		res.Row = true
	case resp.Kind == model.ResponseColumn && !slices.Contains(res.JSON, resp.Column):
		res.JSON = append(res.JSON, resp.Column)
	}
}

// boundColumns are the columns of a step that later steps take as parameters.
func (p *planner) boundColumns(u *unit) []string {
	var out []string
	for _, later := range p.op.Steps {
		for _, arg := range later.Args {
			if arg.Kind == model.SourceStep && arg.Step == u.step.Name && !slices.Contains(out, arg.Column) {
				out = append(out, arg.Column)
			}
		}
	}
	return out
}
