package schema

import (
	"cmp"
	"maps"
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// origin is a parameter, or a column of a recordset parameter, that a value
// comes from.
type origin struct {
	param  int
	record string // column of a recordset, "" for the parameter itself
	plain  bool   // nothing but casts between them
}

// output is a result column of a query and where its values come from.
type output struct {
	name    string
	origins []origin
	null    *nullCause // why an outer join may leave it null, nil for not
}

// relation is a table, subquery or function that a query reads from.
type relation struct {
	alias   string
	name    model.TableName // of a table; its Name is "" for all else
	table   *Table          // nil for all else, and for tables that aren't in the catalog
	outputs []output        // of all but tables
	join    string          // the outer join that may leave it out, "" for none
}

// environment is the common table expressions in sight.
type environment map[string][]output

// query analyzes a query at any level and returns its result columns.
func (a *analysis) query(n *pg.Node, env environment) []output {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return a.selectQuery(s.SelectStmt, env)
	case *pg.Node_InsertStmt:
		return a.insert(s.InsertStmt, env)
	case *pg.Node_UpdateStmt:
		return a.update(s.UpdateStmt, env)
	case *pg.Node_DeleteStmt:
		return a.deleteFrom(s.DeleteStmt, env)
	}
	return nil
}

func (a *analysis) with(clause *pg.WithClause, env environment) environment {
	if clause == nil {
		return env
	}
	out := maps.Clone(env)
	if out == nil {
		out = environment{}
	}
	for _, n := range clause.Ctes {
		cte := n.GetCommonTableExpr()
		if clause.Recursive {
			out[cte.Ctename] = nil
		}
		out[cte.Ctename] = renamed(a.query(cte.Ctequery, out), texts(cte.Aliascolnames))
	}
	return out
}

func renamed(outputs []output, names []string) []output {
	outputs = slices.Clone(outputs)
	for i := range min(len(names), len(outputs)) {
		outputs[i].name = names[i]
	}
	return outputs
}

func (a *analysis) selectQuery(q *pg.SelectStmt, env environment) []output {
	env = a.with(q.GetWithClause(), env)
	switch {
	case q == nil:
		return nil
	case q.Larg != nil:
		left, right := a.selectQuery(q.Larg, env), a.selectQuery(q.Rarg, env)
		for i := range min(len(left), len(right)) {
			left[i].origins = slices.Concat(left[i].origins, right[i].origins)
			left[i].null = cmp.Or(left[i].null, right[i].null)
		}
		return left
	case len(q.ValuesLists) > 0:
		return a.values(q.ValuesLists)
	}
	scope := a.from(q.FromClause, env, q.WhereClause, q.HavingClause)
	a.compare(q.WhereClause, scope)
	return a.outputs(q.TargetList, scope)
}

// values joins the rows of a VALUES list by column.
func (a *analysis) values(lists []*pg.Node) []output {
	var out []output
	for _, list := range lists {
		for i, item := range list.GetList().GetItems() {
			if i == len(out) {
				out = append(out, output{})
			}
			out[i].origins = append(out[i].origins, a.origins(item, nil)...)
		}
	}
	return out
}

// outputs are the result columns of a target list.
func (a *analysis) outputs(targets []*pg.Node, scope []relation) []output {
	var out []output
	for _, n := range targets {
		target := n.GetResTarget()
		qualifier, _, star, _ := columnName(target.GetVal())
		if !star {
			out = append(out, output{targetName(target), a.origins(target.GetVal(), scope), nullValue(target.GetVal(), scope)})
			continue
		}
		for _, r := range scope {
			if qualifier == "" || qualifier == r.alias {
				out = append(out, r.all()...)
			}
		}
	}
	return out
}

// all are the columns that a star stands for.
func (r relation) all() []output {
	out := slices.Clone(r.outputs)
	if r.table != nil {
		out = make([]output, len(r.table.Columns))
		for i, c := range r.table.Columns {
			out[i].name = c.Name
		}
	}
	if r.join != "" {
		for i := range out {
			out[i].null = &nullCause{r.join, r.alias, out[i].name, true}
		}
	}
	return out
}

// origins says where the value of an expression comes from. Subselects inside
// it are left out: they choose rows rather than hand a value on.
func (a *analysis) origins(expr *pg.Node, scope []relation) []origin {
	bare := stripCasts(expr)
	if found, ok := directOrigins(bare, scope); ok {
		return found
	}
	var out []origin
	sqltext.Walk(bare, func(m proto.Message) bool {
		switch e := m.(type) {
		case *pg.SelectStmt:
			return false
		case *pg.CaseExpr: // its conditions choose a value, they aren't one
			for _, value := range caseValues(e) {
				out = append(out, notPlain(a.origins(value, scope))...)
			}
			return false
		case *pg.ParamRef:
			out = append(out, origin{param: int(e.Number)})
		case *pg.ColumnRef:
			found, _ := directOrigins(&pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: e}}, scope)
			out = append(out, notPlain(found)...)
		}
		return true
	})
	slices.SortFunc(out, func(x, y origin) int { // a walk has no order of its own
		return cmp.Or(cmp.Compare(x.param, y.param), cmp.Compare(x.record, y.record))
	})
	return slices.Compact(out)
}

func caseValues(e *pg.CaseExpr) []*pg.Node {
	values := []*pg.Node{e.Defresult}
	for _, when := range e.Args {
		values = append(values, when.GetCaseWhen().GetResult())
	}
	return values
}

// notPlain is a copy of origins whose values are changed on their way.
func notPlain(origins []origin) []origin {
	out := slices.Clone(origins)
	for i := range out {
		out[i].plain = false
	}
	return out
}

// directOrigins are those of a parameter or of a column of a subquery.
func directOrigins(expr *pg.Node, scope []relation) ([]origin, bool) {
	if p := expr.GetParamRef(); p != nil {
		return []origin{{param: int(p.Number), plain: true}}, true
	}
	qualifier, name, star, ok := columnName(expr)
	if !ok || star {
		return nil, false
	}
	for _, r := range scope {
		if qualifier != "" && qualifier != r.alias {
			continue
		}
		for _, o := range r.outputs {
			if o.name == name {
				return o.origins, true
			}
		}
	}
	return nil, true
}
