package plan

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// session is the first statement of every pipeline: the settings that
// row-level security policies read. They end with the transaction.
func (p *planner) session() (Statement, bool) {
	if len(p.svc.Session) == 0 {
		return Statement{}, false
	}
	ps := &params{}
	items := make([]string, len(p.svc.Session))
	for i, v := range p.svc.Session {
		place := ps.add(v.Name, Arg{Source: v.Source, Type: model.Type{Kind: model.KindText, Name: "text"}})
		items[i] = "set_config(" + sqltext.QuoteLiteral(v.Name) + ", " + place + "::text, true)"
	}
	sql := "SELECT " + strings.Join(items, ",\n  ") + ";\n"
	return Statement{Name: "session", SQL: ps.comment() + sql, Args: ps.args}, true
}
