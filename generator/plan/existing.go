package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// The values of model.Step.OnIntent that matter here.
const onIntentReturn = "return"

// existing are the sections that look up the row which an intent collided
// with: only where the intent includes the scope, so that nobody sees another
// one's row.
func (p *planner) existing(strategy Strategy) []Statement {
	var out []Statement
	for _, u := range p.units {
		intent := u.step.Intent
		if intent == nil || !intent.ScopeIn {
			continue
		}
		s, ok := p.existingStatement(u)
		if !ok {
			if u.step.OnIntent == onIntentReturn {
				p.diags.Errorf(diag.IntentReturn, intent.Pos, "the existing row can't be looked up from the inputs of %s", u.query.Name).
					Hint("set each column of the intent from a parameter of its own, and return plain columns of the table; or use conflict")
			}
			continue
		}
		s.Name = "existing"
		if strategy == Stepped {
			s.Name += "." + u.step.Name
		}
		s.Step = u.step
		out = append(out, s)
	}
	return out
}

func (p *planner) existingStatement(u *unit) (Statement, bool) {
	same := u.step.OnIntent == onIntentReturn
	if !u.canShow() || (u.exec() && !same) {
		return Statement{}, false
	}
	ps := &lookup{u: u, params: &params{}, places: map[int]string{}}
	conditions, ok := u.intentConditions(ps)
	if !ok {
		return Statement{}, false
	}
	list, names := "1", []string{"found"}
	if !u.exec() {
		list, names = ps.text(u.stmt.Returning.Body.In(u.stmt.Text)), nil
		for _, s := range u.slots {
			names = append(names, s.name)
		}
	}
	if same {
		list += ",\n  " + u.sameInputs(ps)
		names = append(names, "idem_same")
	}
	query := "SELECT " + list + "\nFROM " + u.stmt.Target.In(u.stmt.Text) + "\nWHERE " + strings.Join(conditions, "\n  AND ") + "\nLIMIT 1"
	sql := withQuery{
		ctes: []cte{{name: "idem_found", columns: names, query: query}},
		main: p.existingMain(u, same),
	}
	return Statement{SQL: ps.comment() + sql.text(), Args: ps.args, Results: Results{Same: same}}, true
}

// existingMain selects the answer's parts from the row that was found.
func (p *planner) existingMain(u *unit, same bool) string {
	a := answer{u: u, r: p.renderer()}
	body, headers := "''", u.headersOf(a.r, "d")
	if !u.exec() {
		body = a.r.rowText(tree(u.visible()), "d")
		if one := p.svc.JSON.One; same && one != "" && len(p.units) == 1 && p.op.Response.Kind == model.ResponseStep {
			body = sqltext.QuoteLiteral("{"+jsonString(one)+":") + " || " + body + " || '}'"
		}
	}
	if headers == "" {
		headers = "NULL"
	}
	items := []string{body + " AS body", headers + "::text AS headers"}
	if same {
		items = append(items, "d.idem_same AS same")
	}
	return selectItems(items) + "\nFROM idem_found d"
}

// canShow reports whether the statement's RETURNING list means the same over
// the table alone.
func (u *unit) canShow() bool {
	if u.stmt.Kind == model.Select || u.stmt.Kind == model.Delete || u.stmt.From != nil || u.step.Each != nil || u.many() {
		return false
	}
	if u.exec() {
		return true
	}
	if u.stmt.Returning == nil {
		return false
	}
	used, err := sqltext.TablesUsed("SELECT " + u.stmt.Returning.Body.In(u.stmt.Text))
	if err != nil {
		return false
	}
	return u.stmt.With == nil || !slices.ContainsFunc(u.stmt.With.CTEs, func(c sqltext.CTE) bool { return slices.Contains(used, c.Name) })
}

// intentConditions find the row by the intent's columns.
func (u *unit) intentConditions(ps *lookup) ([]string, bool) {
	var out []string
	for _, column := range u.step.Intent.Columns {
		value, params, ok := u.valueOf(column)
		if !ok {
			return nil, false
		}
		op := " = "
		if slices.ContainsFunc(params, u.nullable) {
			op = " IS NOT DISTINCT FROM "
		}
		out = append(out, sqltext.QuoteIdent(column)+op+ps.text(value))
	}
	if where := u.step.Intent.Where; where != "" {
		out = append(out, "("+where+")")
	}
	return out, true
}

func (u *unit) nullable(n int) bool {
	return n <= len(u.query.Params) && u.query.Params[n-1].Type.Nullable
}

// sameInputs compares what this request would store with what is stored. What
// the server makes differs each time and doesn't count.
func (u *unit) sameInputs(ps *lookup) string {
	var out []string
	for _, column := range u.query.Shape.InsertColumns {
		value, params, ok := u.valueOf(column)
		if !ok || len(params) == 0 || slices.ContainsFunc(params, u.serverMade) {
			continue
		}
		left, right := sqltext.QuoteIdent(column), ps.text(value)
		if len(params) == 1 {
			left, right = u.comparable(left, right, u.query.Params[params[0]-1].Type)
		}
		out = append(out, left+" IS NOT DISTINCT FROM "+right)
	}
	if len(out) == 0 {
		return "true"
	}
	return strings.Join(out, "\n  AND ")
}

// comparable gives both sides a type that has equality, and rounds the input
// as the column does.
func (u *unit) comparable(left, right string, t model.Type) (string, string) {
	switch t.Kind {
	case model.KindJSON, model.KindRecord:
		if t.Array {
			return left + "::jsonb[]", right + "::jsonb[]"
		}
		return left + "::jsonb", right + "::jsonb"
	case model.KindNumeric, model.KindTimestamptz, model.KindTimestamp, model.KindTime, model.KindInterval:
		if t.Name != "" && !t.Array {
			return left, right + "::" + t.Name
		}
	}
	return left, right
}

func (u *unit) serverMade(n int) bool {
	if n > len(u.step.Args) {
		return true
	}
	switch u.step.Args[n-1].Kind {
	case model.SourceNow, model.SourceUUID4, model.SourceUUID7, model.SourceItem:
		return true
	}
	return false
}

// valueOf is the expression that the statement stores in a column, and the
// parameters in it. False: it is not known, or not the same each time.
func (u *unit) valueOf(column string) (string, []int, bool) {
	if source := u.stmt.Source; source != nil && source.Kind == sqltext.SourceValues && len(source.Rows) == 1 {
		i := slices.Index(u.insertColumns(), column)
		if i < 0 || i >= len(source.Rows[0].Exprs) || source.Rows[0].Exprs[i].Default {
			return "", nil, false
		}
		return fixed(source.Rows[0].Exprs[i].In(u.stmt.Text))
	}
	for _, f := range u.query.Shape.Feeds {
		if f.Column == column && f.Plain && f.Table.Name == u.stmt.Target.Name.Name && (f.Assigned || u.stmt.Kind == model.Update) {
			return "$" + strconv.Itoa(f.Param), []int{f.Param}, true
		}
	}
	return "", nil, false
}

// fixed accepts expressions of parameters and constants.
func fixed(expr string) (string, []int, bool) {
	tokens, err := sqltext.Tokens(expr)
	if err != nil {
		return "", nil, false
	}
	var params []int
	constant := len(tokens) == 1
	for _, t := range tokens {
		if t.Kind == sqltext.TokenParam {
			params = append(params, t.Param)
		}
	}
	constant = constant && (tokens[0].Kind == sqltext.TokenString || tokens[0].Kind == sqltext.TokenNumber)
	if len(tokens) > 1 {
		expr = "(" + expr + ")"
	}
	return expr, params, constant || len(params) > 0
}

// lookup numbers the parameters that a look-up takes over from the statement.
type lookup struct {
	*params
	u      *unit
	places map[int]string
}

// text is a piece of the user's statement with this statement's numbers.
func (l *lookup) text(sql string) string {
	return sqltext.ReplaceParams(sql, func(n int) string {
		if l.places[n] == "" && n <= len(l.u.step.Args) {
			param := l.u.query.Params[n-1]
			l.places[n] = l.add(param.Name, Arg{Source: l.u.step.Args[n-1], Type: param.Type})
		}
		return l.places[n]
	})
}
