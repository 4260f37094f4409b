package plan

import (
	"encoding/json"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// response is a text expression of the body. The wrappers of the JSON style
// are for the whole body only.
func (a answer) response(resp model.Response, top bool) string {
	switch resp.Kind {
	case model.ResponseStep:
		if a.u.exec() {
			return "''"
		}
		return a.rows(top)
	case model.ResponseColumn:
		return a.each(a.r.columnText(a.u.slots, resp.Column, "d"), "")
	case model.ResponseObject:
		var parts []string
		for i, m := range resp.Members {
			head := jsonString(m.Name) + ":"
			if i > 0 {
				head = "," + head
			} else {
				head = "{" + head
			}
			parts = append(parts, sqltext.QuoteLiteral(head), a.response(m.Value, false))
		}
		if len(parts) == 0 {
			return "'{}'"
		}
		return strings.Join(append(parts, "'}'"), " || ")
	}
	return "''"
}

// rows is the step's row, or all of them.
func (a answer) rows(top bool) string {
	style := a.u.p.svc.JSON
	row := a.r.rowText(tree(a.u.visible()), "d")
	if a.beside() != "" {
		row = "row_to_json(idem_row)::text"
	}
	member := ""
	switch {
	case top && a.u.many():
		member = style.Many
	case top && a.u.one():
		member = style.One
	}
	return a.each(row, member)
}

// beside is the SELECT of the row's members where it can stand in FROM: PostgreSQL
// makes it part of the query around it, while it starts a sub-select in the list
// anew for each row. "" where it can't, or would not be made part: what changes a
// setting, or may only be evaluated where a requirement holds.
func (a answer) beside() string {
	u := a.u
	if u.many() || u.mayBeEmpty() || u.exec() || len(u.step.Requires) > 0 || u.p.op.Response.Kind != model.ResponseStep {
		return ""
	}
	row := tree(u.visible())
	if len(row.children) == 0 {
		return ""
	}
	members := a.r.members(row, "d")
	if strings.Contains(members, "set_config(") {
		return ""
	}
	return members
}

// each is one JSON text, or the array of all rows', under the name member
// unless that is empty.
func (a answer) each(text, member string) string {
	open, end := "", ""
	if member != "" {
		open, end = "{"+jsonString(member)+":", "}"
	}
	if !a.u.many() {
		if member == "" {
			return text
		}
		return sqltext.QuoteLiteral(open) + " || " + text + " || " + sqltext.QuoteLiteral(end)
	}
	if refusals := a.refusals(); len(refusals) > 0 {
		text = "CASE\n" + indent(strings.Join(refusals, "\n")+"\nELSE "+text, "  ") + "\nEND"
	}
	return sqltext.QuoteLiteral(open+"[") + " || coalesce((\n" +
		indent("SELECT string_agg("+text+", ',')\nFROM idem_done d", "  ") + "\n), '') || " +
		sqltext.QuoteLiteral("]"+end)
}

// jsonString is a JSON string as row_to_json writes names: without escapes for
// HTML.
func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // can't happen: strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}
