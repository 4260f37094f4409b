package sqltext

import (
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"
)

// Condition is one boolean expression over the columns of one table, fit for
// the predicate of an index as far as its text tells.
type Condition struct {
	// Columns are all that it mentions, in the order of their first places.
	Columns []ColumnAt
	// Booleans are those that stand where a boolean must.
	Booleans []ColumnAt
}

// ColumnAt is a column's name, as stored, and where it stands.
type ColumnAt struct {
	Name   string
	Offset int
}

const conditionHead = "SELECT 1 WHERE ("

// ParseCondition reads a text that is to become the predicate of an index. What
// it refuses would make a migration that does something else than it says, or
// that fails where it is applied: anything but one expression, and in it what
// PostgreSQL does not take in a predicate. The error is an *Error.
func ParseCondition(text string) (*Condition, error) {
	if err := plainTokens(text); err != nil {
		return nil, err
	}
	result, err := pg.Parse(conditionHead + text + ")")
	if err != nil {
		e := wrapError(conditionHead+text+")", err)
		e.Offset = min(max(e.Offset-len(conditionHead), 0), len(text))
		return nil, e
	}
	if len(result.Stmts) != 1 || result.Stmts[0].Stmt.GetSelectStmt().GetWhereClause() == nil {
		return nil, &Error{Message: "it is more than a condition"}
	}
	r := &conditionReader{end: len(text), condition: &Condition{}}
	where := result.Stmts[0].Stmt.GetSelectStmt().WhereClause
	Walk(where, r.visit)
	if r.failed == nil {
		r.boolean(where)
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return r.condition, nil
}

// plainTokens refuses tokens that would end the condition or hide a part of it,
// and those over several lines, which goose would read as lines of its own.
func plainTokens(text string) error {
	tokens, err := Tokens(text)
	if err != nil {
		return err
	}
	depth := 0
	for _, t := range tokens {
		word := t.In(text)
		switch {
		case t.Kind == TokenComment:
			return &Error{"it has a comment", t.Start}
		case t.Kind == TokenParam:
			return &Error{"it has the parameter " + word + ", which a rule for all rows can't have", t.Start}
		case word == ";":
			return &Error{"it has a semicolon", t.Start}
		case strings.ContainsAny(word, "\r\n"):
			return &Error{"a string or name in it goes over several lines", t.Start}
		case word == "(":
			depth++
		case word == ")":
			depth--
		}
		if depth < 0 {
			return &Error{"a parenthesis closes that was never opened", t.Start}
		}
	}
	return nil
}

type conditionReader struct {
	end       int
	condition *Condition
	failed    *Error
}

func (r *conditionReader) fail(location int32, message string) {
	if r.failed == nil {
		r.failed = &Error{message, min(max(int(location)-len(conditionHead), 0), r.end)}
	}
}

func (r *conditionReader) visit(m proto.Message) bool {
	switch n := m.(type) {
	case *pg.ColumnRef:
		r.column(n)
	case *pg.SubLink:
		r.fail(n.Location, "it has a query in it")
		return false
	case *pg.FuncCall:
		r.function(n)
	case *pg.SQLValueFunction:
		r.fail(n.Location, "it depends on when and by whom it is asked")
	case *pg.SetToDefault:
		r.fail(n.Location, "DEFAULT is no value")
	case *pg.GroupingFunc:
		r.fail(n.Location, "it counts over several rows")
	}
	return r.failed == nil
}

func (r *conditionReader) column(n *pg.ColumnRef) {
	name := n.Fields[len(n.Fields)-1].GetString_().GetSval()
	switch {
	case name == "":
		r.fail(n.Location, "it has a star in it")
	case len(n.Fields) > 1:
		r.fail(n.Location, "columns stand without their table")
	default:
		r.condition.Columns = append(r.condition.Columns, r.at(n))
	}
}

func (r *conditionReader) at(n *pg.ColumnRef) ColumnAt {
	return ColumnAt{n.Fields[0].GetString_().GetSval(), int(n.Location) - len(conditionHead)}
}

func (r *conditionReader) function(n *pg.FuncCall) {
	name := ""
	if len(n.Funcname) > 0 {
		name = n.Funcname[len(n.Funcname)-1].GetString_().GetSval()
	}
	switch {
	case n.Over != nil || n.AggStar || n.AggDistinct || n.AggFilter != nil || len(n.AggOrder) > 0 || slices.Contains(overRows, name):
		r.fail(n.Location, name+"(…) counts over several rows")
	case slices.Contains(setReturning, name):
		r.fail(n.Location, name+"(…) gives several rows")
	case slices.Contains(changing, name) || slices.ContainsFunc(changingPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
		r.fail(n.Location, name+"(…) gives another value each time, and the index is made of what it gave once")
	}
}

// Functions that PostgreSQL refuses in the predicate of an index: aggregates and
// window functions, those that give sets, and those that aren't immutable.
var (
	overRows = strings.Fields(`count sum avg min max array_agg string_agg bool_and bool_or every bit_and bit_or bit_xor
		json_agg jsonb_agg json_object_agg jsonb_object_agg xmlagg range_agg stddev variance any_value
		row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`)
	setReturning = strings.Fields(`generate_series generate_subscripts unnest regexp_matches regexp_split_to_table string_to_table
		json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_each json_each_text
		jsonb_each jsonb_each_text json_object_keys jsonb_object_keys jsonb_path_query json_to_recordset jsonb_to_recordset`)
	changing = strings.Fields(`now clock_timestamp statement_timestamp transaction_timestamp timeofday random random_normal
		setseed nextval currval lastval setval set_config version`)
	changingPrefixes = []string{"current_", "gen_random_", "uuid_generate_", "uuidv", "pg_", "txid_", "inet_client_", "inet_server_", "lo_"}
)

// plainOperators give no boolean.
var plainOperators = strings.Fields("+ - * / % ^ || & | # -> ->> #> #>> |/ ||/ @")

// boolean refuses an expression that can't be a boolean, and notes the columns
// that must be.
func (r *conditionReader) boolean(n *pg.Node) {
	switch e := n.GetNode().(type) {
	case *pg.Node_BoolExpr:
		for _, arg := range e.BoolExpr.Args {
			r.boolean(arg)
		}
	case *pg.Node_BooleanTest:
		r.boolean(e.BooleanTest.Arg)
	case *pg.Node_ColumnRef:
		r.condition.Booleans = append(r.condition.Booleans, r.at(e.ColumnRef))
	case *pg.Node_AExpr:
		r.operator(e.AExpr)
	case *pg.Node_TypeCast:
		if names := e.TypeCast.GetTypeName().GetNames(); len(names) == 0 || names[len(names)-1].GetString_().GetSval() != "bool" {
			r.fail(e.TypeCast.Location, "it is no condition: the cast gives no boolean")
		}
	case *pg.Node_AConst:
		if e.AConst.GetBoolval() == nil {
			r.fail(e.AConst.Location, "a constant is no condition")
		}
	case *pg.Node_NullTest, *pg.Node_FuncCall, *pg.Node_CaseExpr, *pg.Node_CoalesceExpr, *pg.Node_AIndirection, *pg.Node_JsonIsPredicate:
	default:
		r.fail(int32(len(conditionHead)), "it is no condition")
	}
}

func (r *conditionReader) operator(e *pg.A_Expr) {
	name := ""
	if len(e.Name) > 0 {
		name = e.Name[len(e.Name)-1].GetString_().GetSval()
	}
	noBoolean := e.Kind == pg.A_Expr_Kind_AEXPR_NULLIF ||
		e.Kind == pg.A_Expr_Kind_AEXPR_OP && (slices.Contains(plainOperators, name) || name == "~" && e.Lexpr == nil)
	if noBoolean {
		r.fail(e.Location, "it is no condition: "+name+" gives no boolean")
	}
}
