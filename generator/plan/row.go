package plan

import (
	"strings"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// node is one JSON member: a column, or an object of nodes.
type node struct {
	name     string
	slot     *slot
	children []*node
}

// tree nests slots by their paths, members in order of first appearance.
func tree(slots []slot) *node {
	root := &node{}
	for i := range slots {
		at := root
		for _, name := range slots[i].path {
			at = at.child(name)
		}
		at.slot = &slots[i]
	}
	return root
}

func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	c := &node{name: name}
	n.children = append(n.children, c)
	return c
}

// rowText is a scalar expression of type text: the JSON of one row of the
// relation from. row_to_json has no limit at 50 columns.
func (r renderer) rowText(n *node, from string) string {
	if len(n.children) == 0 {
		return "'{}'"
	}
	return "(SELECT row_to_json(idem_row)::text FROM (\n" + indent(r.members(n, from), "  ") + "\n) AS idem_row)"
}

// members is a SELECT whose columns are the members of n.
func (r renderer) members(n *node, from string) string {
	items := make([]string, len(n.children))
	short := true
	for i, c := range n.children {
		items[i] = r.member(c, from)
		short = short && len(items[i]) < 40
	}
	if short {
		return "SELECT " + wrap(items, "  ")
	}
	return "SELECT\n" + indent(strings.Join(items, ",\n"), "  ")
}

// rowJSON is rowText as a json.
func (r renderer) rowJSON(n *node, from string) string {
	if len(n.children) == 0 {
		return "'{}'::json"
	}
	return "(SELECT row_to_json(idem_row) FROM (\n" + indent(r.members(n, from), "  ") + "\n) AS idem_row)"
}

func (r renderer) member(n *node, from string) string {
	name := sqltext.QuoteIdent(n.name)
	if n.slot != nil && len(n.children) == 0 {
		column := from + "." + sqltext.QuoteIdent(n.slot.name)
		if expr := r.json(column, n.slot.typ); expr != column || n.name != n.slot.name {
			return expr + " AS " + name
		}
		return column
	}
	return "(SELECT row_to_json(idem_row) FROM (\n" + indent(r.members(n, from), "  ") + "\n) AS idem_row) AS " + name
}

// columnText is the JSON text of one column, or of the object that a dotted
// alias or an embed makes.
func (r renderer) columnText(slots []slot, name, from string) string {
	depth := strings.Count(name, ".") + 1
	var below []slot
	for _, s := range slots {
		if s.full == name {
			return "coalesce(to_json(" + r.json(from+"."+sqltext.QuoteIdent(s.name), s.typ) + ")::text, 'null')"
		}
		if s.within(name) {
			s.path = s.path[depth:]
			below = append(below, s)
		}
	}
	return r.rowText(tree(below), from)
}

// wrap joins items with commas into lines that are easy to read.
func wrap(items []string, by string) string {
	const width = 96
	var b strings.Builder
	line := 0
	for i, item := range items {
		if i > 0 {
			b.WriteString(",")
			if line+len(item) > width {
				b.WriteString("\n" + by)
				line = 0
			} else {
				b.WriteString(" ")
			}
		}
		b.WriteString(item)
		line += len(item) + 2
	}
	return b.String()
}
