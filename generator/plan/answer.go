package plan

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// answer makes the expressions of an answer from idem_done, whose first row is
// called d.
type answer struct {
	u *unit
	r renderer
	// empty and emptyHeaders are the parameters of the @empty problem.
	empty, emptyHeaders string
}

// answer makes the answer of the statement whose parameters are ps.
func (p *planner) answer(u *unit, ps *params) answer {
	a := answer{u: u, r: p.renderer()}
	if u.takesEmpty() {
		a.empty, a.emptyHeaders = ps.runtime(ArgEmpty), ps.runtime(ArgEmptyHeaders)
	}
	return a
}

func (p *planner) renderer() renderer { return renderer{bigintString: p.svc.JSON.BigintString} }

// cte is idem_answer: the columns of an answer and, where no row may come out,
// hit. With gate it has no row unless the request runs.
func (a answer) cte(gate bool) cte {
	items := []string{
		"false AS replayed",
		a.status() + " AS status",
		a.headers() + " AS headers",
		a.body() + " AS body",
		"NULL::bytea AS fingerprint",
	}
	if a.u.mayBeEmpty() {
		items = append(items, "(d.idem_hit IS NOT NULL) AS hit")
	}
	query := "SELECT\n" + indent(strings.Join(items, ",\n"), "  ") + a.from(gate)
	return cte{name: "idem_answer", materialized: true, why: a.why(), query: query}
}

func (a answer) why() string {
	if len(a.u.step.Requires) > 0 {
		return "A requirement that does not hold raises an error where the body is made:\nnothing that was written stays."
	}
	return ""
}

// from is the source of the answer's one row. LIMIT with a marker column: a
// second row must not meet the first one's record, and a row of NULLs is a row.
func (a answer) from(gate bool) string {
	u := a.u
	if !u.many() && !u.mayBeEmpty() {
		if members := a.beside(); members != "" {
			return "\nFROM idem_done d\nCROSS JOIN LATERAL (\n" + indent(members, "  ") + "\n) AS idem_row"
		}
		return "\nFROM idem_done d"
	}
	source, where := "(SELECT 1) AS idem_one", ""
	if gate {
		source, where = "idem_gate", "\nWHERE idem_gate.open"
	}
	if u.many() {
		return "\nFROM " + source + where
	}
	row := "SELECT true AS idem_hit, x.* FROM idem_done x LIMIT 1"
	switch {
	case u.stmt.Kind == model.Select && (u.exec() || u.p.op.Key.Protects()):
		// All rows are asked for, or what the query does behind the first would
		// not be done.
		row = "SELECT (SELECT count(*) FROM idem_done) > 0 AS idem_hit, x.* FROM idem_done x LIMIT 1"
	case u.exec():
		row = "SELECT true AS idem_hit FROM idem_done LIMIT 1"
	}
	return "\nFROM " + source + "\nLEFT JOIN (" + row + ") d ON true" + where
}

func (a answer) status() string {
	u := a.u
	success := u.p.op.Status
	var whens []string
	if u.mayBeEmpty() {
		if status := emptyStatus(u.step.Empty); status != success {
			whens = append(whens, fmt.Sprintf("WHEN d.idem_hit IS NULL THEN %d", status))
		}
	}
	for _, rule := range u.step.Statuses {
		if s := u.find(rule.Column); s != nil {
			column := "d." + sqltext.QuoteIdent(s.name)
			if u.many() {
				column = "(SELECT bool_or(" + column + ") FROM idem_done d)"
			}
			whens = append(whens, fmt.Sprintf("WHEN %s THEN %d", column, rule.Status))
		}
	}
	if len(whens) == 0 {
		return fmt.Sprintf("%d::smallint", success)
	}
	return fmt.Sprintf("(CASE %s ELSE %d END)::smallint", strings.Join(whens, " "), success)
}

func (a answer) headers() string {
	headers := a.u.headersOf(a.r, "d")
	if headers == "" {
		headers = "NULL::jsonb"
	}
	if !a.u.mayBeEmpty() {
		return headers
	}
	empty := "NULL"
	if a.emptyHeaders != "" {
		empty = a.emptyHeaders + "::jsonb"
	} else if headers == "NULL::jsonb" {
		return headers
	}
	return "CASE WHEN d.idem_hit IS NULL THEN " + empty + " ELSE " + headers + " END"
}

// body is the response, or why there is none.
func (a answer) body() string {
	u := a.u
	body := a.response(u.p.op.Response, true)
	if u.many() { // requirements are inside, row by row
		return body
	}
	var whens []string
	if u.mayBeEmpty() {
		if empty := a.emptyBody(); empty != body {
			whens = append(whens, "WHEN d.idem_hit IS NULL THEN "+empty)
		}
	}
	whens = append(whens, a.refusals()...)
	if len(whens) == 0 {
		return body
	}
	return "CASE\n" + indent(strings.Join(whens, "\n")+"\nELSE "+body, "  ") + "\nEND"
}

func (a answer) emptyBody() string {
	empty := a.u.step.Empty
	if a.u.undoesEmpty() {
		return "idem.refuse('@empty')"
	}
	if !empty.Fine {
		return a.empty + "::text"
	}
	if a.u.exec() || a.u.p.op.Response.Kind == model.ResponseNone || bodiless(empty.Status) {
		return "''"
	}
	return "'null'"
}

// bodiless reports whether HTTP allows no body with a status (RFC 9110).
func bodiless(status int) bool { return status == 204 || status == 205 || status == 304 }

// refusals are the WHENs of the requirements, in their order.
func (a answer) refusals() []string {
	var whens []string
	for _, r := range a.u.step.Requires {
		if s := a.u.find(r.Column); s != nil {
			whens = append(whens, "WHEN d."+sqltext.QuoteIdent(s.name)+" IS NOT TRUE THEN idem.refuse("+
				sqltext.QuoteLiteral(r.Column)+")")
		}
	}
	return whens
}
