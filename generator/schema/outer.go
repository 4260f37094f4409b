package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// nullCause says why a column may be null although what it is read from is
// not: an outer join leaves it out where nothing matches.
type nullCause struct {
	join     string // LEFT JOIN, RIGHT JOIN, FULL JOIN
	relation string // the alias on the side that may be missing
	column   string
	plain    bool // the value is the column's own
}

// outerJoins finds the relations of one FROM clause whose columns a join fills
// with nulls. A condition that no such row can meet makes the join an inner
// one, as PostgreSQL's planner reduces them (reduce_outer_joins in
// prepjointree.c).
type outerJoins struct {
	scope  []relation
	leaves map[*pg.Node]int // FROM items by their place in the scope
}

// extend marks the relations that a join fills with nulls and that the filters,
// WHERE and HAVING, let through.
func (o outerJoins) extend(items, filters []*pg.Node) {
	var met []int
	for _, f := range filters {
		met = append(met, o.demanded(f)...)
	}
	for _, n := range items {
		o.walk(n, met, "")
	}
}

// walk goes down a join tree. Met are the relations without which a row does
// not get past what is above; join is the outer join above, "" for none.
func (o outerJoins) walk(n *pg.Node, met []int, join string) {
	e := n.GetJoinExpr()
	if e == nil {
		if i, ok := o.leaves[n]; ok {
			o.scope[i].join = join
		}
		return
	}
	left, right := e.Jointype == pg.JoinType_JOIN_RIGHT, e.Jointype == pg.JoinType_JOIN_LEFT
	if e.Jointype == pg.JoinType_JOIN_FULL {
		left, right = true, true
	}
	word := joinWords[e.Jointype]
	// A side without which no row gets through keeps the other one's nulls only.
	nullLeft := left && !o.within(e.Larg, met)
	nullRight := right && !o.within(e.Rarg, met)
	own := o.demanded(e.Quals)
	o.walk(e.Larg, below(met, own, nullRight), outermost(join, word, nullLeft))
	o.walk(e.Rarg, below(met, own, nullLeft), outermost(join, word, nullRight))
}

var joinWords = map[pg.JoinType]string{
	pg.JoinType_JOIN_LEFT: "LEFT JOIN", pg.JoinType_JOIN_RIGHT: "RIGHT JOIN", pg.JoinType_JOIN_FULL: "FULL JOIN",
}

// below are the relations that rows of one side of a join must have: what the
// join's own condition demands too, unless rows without a match get through,
// which is where the other side is filled with nulls.
func below(met, own []int, otherNull bool) []int {
	if otherNull {
		return met
	}
	return slices.Concat(met, own)
}

func outermost(join, own string, null bool) string {
	if join == "" && null {
		return own
	}
	return join
}

// within reports whether a join tree holds one of the relations.
func (o outerJoins) within(n *pg.Node, relations []int) bool {
	if e := n.GetJoinExpr(); e != nil {
		return o.within(e.Larg, relations) || o.within(e.Rarg, relations)
	}
	i, ok := o.leaves[n]
	return ok && slices.Contains(relations, i)
}

// demanded are the relations that a condition can't be true without.
func (o outerJoins) demanded(cond *pg.Node) []int {
	var out []int
	for _, ref := range refusesNull(cond) {
		if i := relationOf(ref, o.scope); i >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// relationOf is the place in the scope of the relation that a column is of, -1
// where that is not known.
func relationOf(ref *pg.Node, scope []relation) int {
	qualifier, name, _, _ := columnName(ref)
	return slices.IndexFunc(scope, func(r relation) bool {
		if qualifier != "" {
			return qualifier == r.alias
		}
		return r.has(name)
	})
}

func (r relation) has(column string) bool {
	if r.table != nil {
		return r.table.Column(column) != nil
	}
	return slices.ContainsFunc(r.outputs, func(o output) bool { return o.name == column })
}

// noteNulls hands on which result columns may be null, and why.
func (a *analysis) noteNulls(outputs []output) {
	for i, o := range outputs {
		if o.null != nil {
			a.shape.OuterNulls = append(a.shape.OuterNulls, model.OuterNull{
				Index: i, Name: o.name, Join: o.null.join, Relation: o.null.relation, Column: o.null.column, Plain: o.null.plain})
		}
	}
}

// nullOf says why a column may be null, nil if no join makes it so.
func nullOf(ref *pg.Node, scope []relation) *nullCause {
	i := relationOf(ref, scope)
	if i < 0 {
		return nil
	}
	_, name, _, _ := columnName(ref)
	r := scope[i]
	if r.join != "" {
		return &nullCause{r.join, r.alias, name, true}
	}
	for _, o := range r.outputs {
		if o.name == name {
			return o.null
		}
	}
	return nil
}

// nullValue says why an expression may be null: one of the columns that it is
// null with is.
func nullValue(expr *pg.Node, scope []relation) *nullCause {
	for _, ref := range nullWith(expr) {
		if cause := nullOf(ref, scope); cause != nil {
			own := *cause
			own.plain = own.plain && ref == expr
			return &own
		}
	}
	return nil
}
