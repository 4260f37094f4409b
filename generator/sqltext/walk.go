package sqltext

import (
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Walk calls visit for the statements, clauses and expressions of a parse
// tree, parents first, with the concrete message (never the *pg.Node around
// it). Where visit returns false, the children are left out. The order of
// siblings is not defined.
func Walk(tree proto.Message, visit func(proto.Message) bool) {
	if tree == nil || !tree.ProtoReflect().IsValid() {
		return
	}
	walkMessage(tree, visit)
}

func walkMessage(m proto.Message, visit func(proto.Message) bool) {
	if node, wrapper := m.(*pg.Node); wrapper {
		walkNode(node, visit)
		return
	}
	if visit(m) && !walkCommon(m, visit) {
		walkFields(m.ProtoReflect(), visit)
	}
}

// walkFields visits the children of any message by reflection.
func walkFields(m protoreflect.Message, visit func(proto.Message) bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if !field.IsList() {
			walkMessage(value.Message().Interface(), visit)
			return true
		}
		list := value.List()
		for i := range list.Len() {
			walkMessage(list.Get(i).Message().Interface(), visit)
		}
		return true
	})
}

// TablesUsed lists the names of all tables and common table expressions that a
// text mentions, at any depth: without schema, sorted, each once. The error is
// an *Error.
func TablesUsed(sql string) ([]string, error) {
	result, err := pg.Parse(sql)
	if err != nil {
		return nil, wrapError(sql, err)
	}
	return tablesUsed(result), nil
}

// TablesUsed is the function of that name for this statement.
func (s *Statement) TablesUsed() []string { return tablesUsed(s.tree) }

func tablesUsed(tree proto.Message) []string {
	var names []string
	Walk(tree, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg.RangeVar:
			names = append(names, n.Relname)
		case *pg.CommonTableExpr:
			names = append(names, n.Ctename)
		}
		return true
	})
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
