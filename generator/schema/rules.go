package schema

import (
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// translator turns a CHECK into rules of columns. A check that is null passes,
// as does a rule on null, so `x IS NULL OR …` is the rule alone. What can't be
// translated exactly stays with the database.
type translator struct {
	name     string // of the constraint
	columnOf func(string) (model.Type, bool)
	rules    map[string][]model.Check
}

// rulesOf translates a check, nil if any part of it can't be.
func rulesOf(c *Check, columnOf func(string) (model.Type, bool)) map[string][]model.Check {
	t := &translator{name: c.Name, columnOf: columnOf, rules: map[string][]model.Check{}}
	if !t.conjunction(c.expr) {
		return nil
	}
	return t.rules
}

func (t *translator) add(column string, op model.CheckOp, value string) bool {
	t.rules[column] = append(t.rules[column], model.Check{Op: op, Value: value, Name: t.name})
	return true
}

func (t *translator) addIn(column string, values []string) bool {
	t.rules[column] = append(t.rules[column], model.Check{Op: model.CheckIn, Values: values, Name: t.name})
	return true
}

func (t *translator) conjunction(n *pg.Node) bool {
	e := n.GetBoolExpr()
	switch {
	case e == nil:
		return t.comparison(n.GetAExpr())
	case e.Boolop == pg.BoolExprType_AND_EXPR:
		for _, arg := range e.Args {
			if !t.conjunction(arg) {
				return false
			}
		}
		return true
	case e.Boolop == pg.BoolExprType_OR_EXPR:
		return t.disjunction(e.Args)
	}
	return false
}

// disjunction translates `x IS NULL OR rule of x` and `x = 1 OR x = 2`.
func (t *translator) disjunction(args []*pg.Node) bool {
	nullable := ""
	var rest []*pg.Node
	for _, arg := range args {
		test := arg.GetNullTest()
		if test == nil || test.Nulltesttype != pg.NullTestType_IS_NULL {
			rest = append(rest, arg)
			continue
		}
		_, name, _, ok := columnName(test.Arg)
		if !ok || nullable != "" {
			return false
		}
		nullable = name
	}
	if len(rest) == 1 && nullable != "" {
		inner := &translator{name: t.name, columnOf: t.columnOf, rules: map[string][]model.Check{}}
		if !inner.conjunction(rest[0]) || len(inner.rules) != 1 || inner.rules[nullable] == nil {
			return false
		}
		t.rules[nullable] = append(t.rules[nullable], inner.rules[nullable]...)
		return true
	}
	return t.anyEqual(rest, nullable)
}

// anyEqual translates a disjunction of equalities with one column.
func (t *translator) anyEqual(args []*pg.Node, column string) bool {
	var values []string
	for _, arg := range args {
		inner := &translator{name: t.name, columnOf: t.columnOf, rules: map[string][]model.Check{}}
		if !inner.comparison(arg.GetAExpr()) || len(inner.rules) != 1 {
			return false
		}
		for name, checks := range inner.rules {
			if column == "" {
				column = name
			}
			if name != column || len(checks) != 1 || checks[0].Op != model.CheckIn {
				return false
			}
			values = append(values, checks[0].Values...)
		}
	}
	return len(values) > 0 && t.addIn(column, values)
}

func (t *translator) comparison(e *pg.A_Expr) bool {
	if e == nil {
		return false
	}
	op := ""
	if len(e.Name) == 1 { // OPERATOR(schema.op) is not what it seems
		op = e.Name[0].GetString_().GetSval()
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return t.operator(op, e.Lexpr, e.Rexpr)
	case pg.A_Expr_Kind_AEXPR_BETWEEN:
		bounds := e.Rexpr.GetList().GetItems()
		return len(bounds) == 2 && t.operator(">=", e.Lexpr, bounds[0]) && t.operator("<=", e.Lexpr, bounds[1])
	case pg.A_Expr_Kind_AEXPR_IN:
		return t.list(op, e.Lexpr, e.Rexpr.GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_OP_ANY:
		array := stripCasts(e.Rexpr).GetAArrayExpr()
		return op == "=" && array != nil && t.list(op, e.Lexpr, array.Elements)
	case pg.A_Expr_Kind_AEXPR_OP_ALL:
		array := stripCasts(e.Rexpr).GetAArrayExpr()
		return op == "<>" && array != nil && t.list(op, e.Lexpr, array.Elements)
	}
	return false
}

// list translates IN, NOT IN, = ANY and <> ALL of constants.
func (t *translator) list(op string, left *pg.Node, items []*pg.Node) bool {
	column, typ, ok := t.column(left)
	if !ok || len(items) == 0 {
		return false
	}
	var values []string
	for _, item := range items {
		v, ok := constantFor(typ, item)
		if !ok {
			return false
		}
		values = append(values, v)
	}
	switch op {
	case "=":
		return t.addIn(column, values)
	case "<>":
		for _, v := range values {
			t.add(column, model.CheckNotEqual, v)
		}
		return true
	}
	return false
}

// flipped are the comparisons with their sides exchanged.
var flipped = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}

func (t *translator) operator(op string, left, right *pg.Node) bool {
	if column, typ, ok := t.column(left); ok {
		return t.columnOp(op, column, typ, right)
	}
	if column, ok := t.lengthOf(left); ok {
		return t.lengthOp(op, column, right)
	}
	back, ok := flipped[op]
	if !ok {
		return false
	}
	if column, typ, ok := t.column(right); ok {
		return t.columnOp(back, column, typ, left)
	}
	if column, ok := t.lengthOf(right); ok {
		return t.lengthOp(back, column, left)
	}
	return false
}

var bounds = map[string]model.CheckOp{
	">=": model.CheckMin, "<=": model.CheckMax, ">": model.CheckExclusiveMin, "<": model.CheckExclusiveMax,
}

func (t *translator) columnOp(op, column string, typ model.Type, constant *pg.Node) bool {
	if op == "~" {
		pattern, ok := textConstant(constant)
		translated, safe := goPattern(pattern)
		return ok && safe && isPlainText(typ) && t.add(column, model.CheckPattern, translated)
	}
	value, ok := constantFor(typ, constant)
	if !ok {
		return false
	}
	switch op {
	case "=":
		return t.addIn(column, []string{value})
	case "<>":
		return t.add(column, model.CheckNotEqual, value)
	}
	bound, ok := bounds[op]
	return ok && isNumber(typ) && t.add(column, bound, value)
}

func (t *translator) lengthOp(op, column string, constant *pg.Node) bool {
	text, ok := numberConstant(constant)
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return false
	}
	length := func(o model.CheckOp, n int) bool { return t.add(column, o, strconv.Itoa(max(n, 0))) }
	switch op {
	case ">=":
		return length(model.CheckMinLength, n)
	case ">":
		return length(model.CheckMinLength, n+1)
	case "<=":
		return n >= 0 && length(model.CheckMaxLength, n)
	case "<":
		return n >= 1 && length(model.CheckMaxLength, n-1)
	case "=":
		return n >= 0 && length(model.CheckMinLength, n) && length(model.CheckMaxLength, n)
	case "<>":
		return n == 0 && length(model.CheckMinLength, 1)
	}
	return false
}

// column is the column that an expression is, with nothing but a cast to text
// around it, which pg_dump adds.
func (t *translator) column(n *pg.Node) (string, model.Type, bool) {
	if cast := n.GetTypeCast(); cast != nil {
		names := texts(cast.TypeName.GetNames())
		_, typ, ok := t.column(cast.Arg)
		if !ok || typ.Kind != model.KindText || names[len(names)-1] != "text" || len(cast.TypeName.ArrayBounds) > 0 {
			return "", model.Type{}, false
		}
		n = cast.Arg
	}
	_, name, _, ok := columnName(n)
	if !ok {
		return "", model.Type{}, false
	}
	typ, known := t.columnOf(name)
	return name, typ, known && !typ.Array
}

// lengthOf is the text column whose length in characters an expression is.
func (t *translator) lengthOf(n *pg.Node) (string, bool) {
	call := n.GetFuncCall()
	switch funcName(call) {
	case "length", "char_length", "character_length":
	default:
		return "", false
	}
	if len(call.Args) != 1 {
		return "", false
	}
	name, typ, ok := t.column(call.Args[0])
	return name, ok && isPlainText(typ)
}

// isPlainText: char(n) pads and strips, enums and domains over them have no
// operators of text.
func isPlainText(t model.Type) bool {
	return t.Kind == model.KindText && !strings.HasPrefix(t.Name, "bpchar") && t.Enum == nil
}

func isNumber(t model.Type) bool {
	switch t.Kind {
	case model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat4, model.KindFloat8:
		return true
	}
	return false
}

// constantFor is a constant that a column of this type can be compared with.
func constantFor(typ model.Type, n *pg.Node) (string, bool) {
	switch {
	case isNumber(typ):
		text, ok := numberConstant(n)
		if typ.Kind == model.KindFloat4 || typ.Kind == model.KindFloat8 { // 0.1 is not 0.1 there
			_, err := strconv.Atoi(text)
			ok = ok && err == nil
		}
		return text, ok
	case typ.Kind == model.KindText && !strings.HasPrefix(typ.Name, "bpchar") && !strings.HasSuffix(typ.Name, "citext"):
		return textConstant(n)
	}
	return "", false
}

// numberConstant is a numeric constant in plain decimal form.
func numberConstant(n *pg.Node) (string, bool) {
	n = stripCasts(n)
	if e := n.GetAExpr(); e != nil && e.Lexpr == nil && e.Kind == pg.A_Expr_Kind_AEXPR_OP && len(e.Name) == 1 &&
		e.Name[0].GetString_().GetSval() == "-" {
		text, ok := numberConstant(e.Rexpr)
		return "-" + text, ok && !strings.HasPrefix(text, "-")
	}
	c := n.GetAConst()
	switch {
	case c == nil || c.Isnull:
		return "", false
	case c.GetFval() != nil:
		return plainDecimal(c.GetFval().Fval)
	case c.GetSval() != nil:
		return plainDecimal(c.GetSval().Sval)
	case c.GetIval() != nil:
		return strconv.Itoa(int(c.GetIval().Ival)), true
	}
	return "", false
}

// plainDecimal accepts digits with a sign and a point; 1e3, 0x1F and 1_000 are
// too rare to be worth a second reading.
func plainDecimal(s string) (string, bool) {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", false
	}
	if whole == "" {
		whole = "0"
	}
	out := whole
	if point && fraction != "" {
		out += "." + fraction
	}
	if digits != s {
		out = "-" + out
	}
	return out, true
}

// textConstant is a string constant, casts around it apart.
func textConstant(n *pg.Node) (string, bool) {
	c := stripCasts(n).GetAConst()
	if c == nil || c.Isnull || c.GetSval() == nil {
		return "", false
	}
	return c.GetSval().Sval, true
}
