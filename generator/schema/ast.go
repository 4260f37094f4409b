package schema

import (
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

func rangeName(r *pg.RangeVar) model.TableName {
	return model.TableName{Schema: r.GetSchemaname(), Name: r.GetRelname()}
}

// texts are the strings of a list of String nodes; other nodes count as "".
func texts(nodes []*pg.Node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.GetString_().GetSval()
	}
	return out
}

// qualified makes a name of its parts, the catalog's apart.
func qualified(parts []string) model.TableName {
	switch n := len(parts); n {
	case 0:
		return model.TableName{}
	case 1:
		return model.TableName{Name: parts[0]}
	default:
		return model.TableName{Schema: parts[n-2], Name: parts[n-1]}
	}
}

// columnName is the last part of a column reference and what qualifies it;
// star is set for t.*.
func columnName(n *pg.Node) (qualifier, name string, star, ok bool) {
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) == 0 {
		return "", "", false, false
	}
	last := ref.Fields[len(ref.Fields)-1]
	if len(ref.Fields) > 1 {
		qualifier = ref.Fields[len(ref.Fields)-2].GetString_().GetSval()
	}
	return qualifier, last.GetString_().GetSval(), last.GetAStar() != nil, true
}

// columnsIn are the columns that an expression mentions, sorted, each once.
func columnsIn(expr *pg.Node) []string {
	var out []string
	sqltext.Walk(expr, func(m proto.Message) bool {
		if ref, ok := m.(*pg.ColumnRef); ok && len(ref.Fields) > 0 {
			if name := ref.Fields[len(ref.Fields)-1].GetString_().GetSval(); name != "" {
				out = append(out, name)
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// renameIn renames a column in an expression, in place.
func renameIn(expr *pg.Node, from, to string) {
	sqltext.Walk(expr, func(m proto.Message) bool {
		if ref, ok := m.(*pg.ColumnRef); ok && len(ref.Fields) > 0 {
			if s := ref.Fields[len(ref.Fields)-1].GetString_(); s != nil && s.Sval == from {
				s.Sval = to
			}
		}
		return true
	})
}

// deparse writes an expression as SQL, "" for none.
func deparse(expr *pg.Node) string {
	if expr == nil {
		return ""
	}
	target := &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: expr}}}
	query := &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: &pg.SelectStmt{
		TargetList: []*pg.Node{target}, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}}}
	text, err := pg.Deparse(&pg.ParseResult{Stmts: []*pg.RawStmt{{Stmt: query}}})
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(text, "SELECT ")
}

// clone copies an expression, so that a rename in one table leaves the other alone.
func clone(expr *pg.Node) *pg.Node {
	if expr == nil {
		return nil
	}
	return proto.Clone(expr).(*pg.Node)
}

// stripCasts removes casts, collations and the like around an expression.
func stripCasts(n *pg.Node) *pg.Node {
	for {
		switch inner := n.GetNode().(type) {
		case *pg.Node_TypeCast:
			n = inner.TypeCast.Arg
		case *pg.Node_CollateClause:
			n = inner.CollateClause.Arg
		default:
			return n
		}
	}
}

// funcName is the unqualified name of a function.
func funcName(f *pg.FuncCall) string {
	if f == nil || len(f.Funcname) == 0 {
		return ""
	}
	return f.Funcname[len(f.Funcname)-1].GetString_().GetSval()
}
