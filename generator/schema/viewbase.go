package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// linkView notes the tables behind a view: what a statement does to the view,
// it does to them. A view of exactly one table writes that one. Any other can
// be written through triggers and rules only, and then any table that its
// query names may be meant.
func (b *builder) linkView(t *Table, query *pg.Node) {
	t.history.bases, t.history.unknown = nil, false
	for _, name := range viewSources(query) {
		base, ok := find(b, b.tables, name)
		switch {
		case ok && base != t:
			t.history.bases = append(t.history.bases, base)
		case !ok && !systemSchema(name.Schema):
			t.history.unknown = true
		}
	}
}

// systemSchema reports whether a schema holds nothing that can be written.
func systemSchema(schema string) bool {
	return schema == "pg_catalog" || schema == "information_schema"
}

// viewSources are the relations behind a view's query.
func viewSources(query *pg.Node) []model.TableName {
	if q := query.GetSelectStmt(); q != nil && q.WithClause == nil && q.Larg == nil && len(q.FromClause) == 1 {
		if rel := q.FromClause[0].GetRangeVar(); rel != nil {
			return []model.TableName{rangeName(rel)}
		}
	}
	var out []model.TableName
	var ctes []string
	sqltext.Walk(query, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg.CommonTableExpr:
			ctes = append(ctes, n.Ctename)
		case *pg.RangeVar:
			out = append(out, rangeName(n))
		}
		return true
	})
	return slices.DeleteFunc(out, func(n model.TableName) bool { return n.Schema == "" && slices.Contains(ctes, n.Name) })
}

// behind are the tables and views behind a view, at any depth; unknown is set
// if there is one that no migration makes.
func (t *Table) behind() (out []*Table, unknown bool) {
	seen := map[*Table]bool{t: true}
	queue := []*Table{t}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		unknown = unknown || v.history.unknown
		for _, base := range v.history.bases {
			if !seen[base] {
				seen[base] = true
				out = append(out, base)
				queue = append(queue, base)
			}
		}
	}
	return out, unknown
}

// joinBases gives a view the traits of what is behind it: a row written to the
// view fires its triggers and rules. Behind a table that no migration makes
// may be anything.
func (t *Table) joinBases() {
	if !t.Traits.View {
		return
	}
	bases, unknown := t.behind()
	for _, base := range bases {
		joinTraits(&t.Traits, base.Traits)
	}
	if unknown {
		joinTraits(&t.Traits, model.TableTraits{StatementTriggers: true, RowTriggers: true, Rules: true,
			Partitioned: true, RowSecurity: true, OtherWrites: true})
	}
}
