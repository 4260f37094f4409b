package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// clientPages is the iterator over all pages of a list.
type clientPages struct {
	Name, Item    string
	Cursor, After string // fields of the item and of the input
	List          string // field of the output
	Pointer       bool   // After is a pointer
	Limit         string // comment
}

// pages finds the cursor of a list: a query parameter `after` that the statement
// compares as `id > $n`, where it is ordered by that column and returns it. Any
// other form of paging is not evident, and has no iterator.
func (c *clientEmitter) pages(op *contract.Operation, planned *plan.Operation, view *clientOperation, im *imports) *clientPages {
	m := op.Model
	if m.Method != "GET" || len(m.Steps) != 1 || m.Steps[0].Query.Command != "many" || m.Response.Kind != model.ResponseStep || view.Output == "" {
		return nil
	}
	at := slices.IndexFunc(op.Params, func(p *contract.Param) bool { return p.In == model.FromQuery && p.Wire == "after" })
	list := op.Answers[0].Body
	if at < 0 || list == nil || len(list.Members) != 1 || list.Members[0].Form != contract.FormList {
		return nil
	}
	after, rows := op.Params[at], list.Members[0]
	column := cursorOf(m, "after")
	i := slices.IndexFunc(rows.Members, func(n *contract.Node) bool { return column != "" && n.Name == column })
	if i < 0 || rows.Members[i].Nullable || rows.Members[i].Type.Kind != after.Type.Kind || after.Type.Array || !comparable(after.Type.Kind) {
		return nil
	}
	name := "All" + strings.TrimPrefix(view.GoName, "List")
	if c.methodNames[name] {
		return nil
	}
	c.methodNames[name] = true
	im.add("iter", "fmt")
	return &clientPages{
		Name: name, Item: elementOf(view, rows.GoName),
		Cursor: rows.Members[i].GoName, After: after.GoName, List: rows.GoName, Pointer: !after.Required || after.Nullable,
	}
}

// comparable: a cursor of the kind is a Go value that == tells apart.
func comparable(k model.Kind) bool {
	switch k {
	case model.KindInt2, model.KindInt4, model.KindInt8, model.KindText, model.KindUUID:
		return true
	}
	return false
}

// elementOf is the type of the list's elements.
func elementOf(view *clientOperation, list string) string {
	for _, t := range view.Types {
		if t.Name != view.Output {
			continue
		}
		for _, f := range t.Fields {
			if f.Name == list {
				return f.Type[len("[]"):]
			}
		}
	}
	return ""
}

// cursorOf is the column that the statement compares with a query parameter and
// is ordered by, "" where there is none.
func cursorOf(m *model.Operation, param string) string {
	step := m.Steps[0]
	n := slices.IndexFunc(step.Args, func(s model.Source) bool {
		return s.Kind == model.SourceInput && s.Input.From == model.FromQuery && s.Input.Name == param
	})
	if n < 0 {
		return ""
	}
	const column = `(?:[a-z_][a-z0-9_]*\.)?([a-z_][a-z0-9_]*)`
	compared := regexp.MustCompile(fmt.Sprintf(`(?i)\b%s\s*>\s*\$%d\b`, column, n+1)).FindStringSubmatch(step.Query.SQL)
	ordered := regexp.MustCompile(`(?i)\bORDER\s+BY\s+` + column + `\s*(?:ASC\s*)?(?:LIMIT\b|$)`).FindStringSubmatch(step.Query.SQL)
	if compared == nil || ordered == nil || compared[1] != ordered[1] {
		return ""
	}
	return compared[1]
}
