package sqltext

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"
)

// BrokenKind says why sqlc can't make $1 of a parameter by name.
type BrokenKind int

// The ways in which the text of a parameter is not what sqlc replaces.
const (
	// BrokenTighter is @name before something that binds tighter than the
	// operator @, so that the operand is more than the name with one cast:
	// @a * 2, @a::int::bigint.
	BrokenTighter BrokenKind = iota + 1
	// BrokenName is a name that does not follow the @ as a plain word: @ a,
	// @"a", @a.b.
	BrokenName
	// BrokenOperator is an @ before or between something else than a name,
	// where PostgreSQL has an operator: @ (a - b), path @ 'x'.
	BrokenOperator
	// BrokenCall is a sqlc.arg or sqlc.narg whose argument is no plain name.
	BrokenCall
)

// BrokenParam is a parameter by name in a text for sqlc that sqlc would
// replace wrongly.
type BrokenParam struct {
	Span // of the @ with the name and its cast, or of sqlc.arg(…)
	Kind BrokenKind
	// Name is the parameter's name, "" where none can be told.
	Name string
	// Next is the first token that the operator @ takes in behind Span, "" for
	// other kinds than BrokenTighter.
	Next string
}

// BrokenParams finds the parameters by name that sqlc would replace wrongly, in
// their order. sqlc asks the grammar for operators @ and for calls of sqlc.arg,
// makes a name of all names below, and replaces as many bytes as that name has:
// right only where the operand is one plain word with at most one cast. A
// text that the grammar refuses has none.
func BrokenParams(sql string) []BrokenParam {
	result, err := pg.Parse(sql)
	if err != nil {
		return nil
	}
	tokens, err := Tokens(sql)
	if err != nil {
		return nil
	}
	tokens = slices.DeleteFunc(tokens, func(t Token) bool { return t.Kind == TokenComment })
	n := namedReader{text: sql, tokens: tokens}
	Walk(result, func(m proto.Message) bool {
		switch e := m.(type) {
		case *pg.A_Expr:
			if len(e.Name) == 1 && e.Name[0].GetString_().GetSval() == "@" {
				n.sign(e)
			}
		case *pg.FuncCall:
			n.call(e)
		}
		return true
	})
	slices.SortFunc(n.found, func(a, b BrokenParam) int { return cmp.Compare(a.Start, b.Start) })
	return n.found
}

// namedReader compares the parameters of a tree with their text.
type namedReader struct {
	text   string
	tokens []Token
	found  []BrokenParam
}

// at is the index of the token that begins at an offset, or of the next one.
func (n *namedReader) at(offset int) int {
	i, _ := slices.BinarySearchFunc(n.tokens, offset, func(t Token, at int) int { return cmp.Compare(t.Start, at) })
	return i
}

// token is the i-th token; behind the last one an empty one.
func (n *namedReader) token(i int) Token {
	if i >= len(n.tokens) {
		return Token{Span: Span{len(n.text), len(n.text)}}
	}
	return n.tokens[i]
}

// sign looks at an operator @ and its operand.
func (n *namedReader) sign(e *pg.A_Expr) {
	first := n.at(int(e.Location))
	at, name := n.token(first), n.token(first+1)
	b := BrokenParam{Span: Span{at.Start, name.End}}
	word := name.Kind == TokenIdent || name.Kind == TokenKeyword
	switch {
	case e.Lexpr != nil || at.In(n.text) != "@" || !word || n.token(first+2).In(n.text) == "(":
		b.Kind, b.End = BrokenOperator, at.End
	case name.Start != at.End || name.In(n.text)[0] == '"' || n.token(first+2).In(n.text) == ".":
		b.Kind, b.Name = BrokenName, strings.Trim(name.In(n.text), `"`)
		if next := n.token(first + 2); next.In(n.text) == "." {
			b.End = n.token(first + 3).End
		}
	default:
		if plainOperand(e.Rexpr) {
			return
		}
		next := first + 2
		if n.token(next).token == pg.Token_TYPECAST {
			next = n.typeName(next + 1)
		}
		b.Kind, b.Name = BrokenTighter, name.In(n.text)
		b.End, b.Next = n.token(next-1).End, n.token(next).In(n.text)
	}
	n.found = append(n.found, b)
}

// plainOperand reports whether the operand of @ is a name, or a name with one
// cast.
func plainOperand(operand *pg.Node) bool {
	if cast := operand.GetTypeCast(); cast != nil {
		operand = cast.Arg
	}
	ref := operand.GetColumnRef()
	return ref != nil && len(ref.Fields) == 1 && ref.Fields[0].GetString_() != nil
}

// typeWords go on with the name of a type: double precision, timestamp with
// time zone, interval day to second.
var typeWords = []pg.Token{
	pg.Token_PRECISION, pg.Token_VARYING, pg.Token_WITH, pg.Token_WITHOUT, pg.Token_WITHOUT_LA, pg.Token_WITH_LA, pg.Token_TIME, pg.Token_ZONE,
	pg.Token_YEAR_P, pg.Token_MONTH_P, pg.Token_DAY_P, pg.Token_HOUR_P, pg.Token_MINUTE_P, pg.Token_SECOND_P, pg.Token_TO, pg.Token_ARRAY,
}

// typeName passes the name of a type with its modifiers and brackets.
func (n *namedReader) typeName(i int) int {
	if n.token(i).token == pg.Token_SETOF {
		i++
	}
	i++
	for {
		t := n.token(i)
		switch {
		case t.token == pg.Token_ASCII_46:
			i += 2
		case t.token == pg.Token_ASCII_40, t.token == pg.Token_ASCII_91:
			w := walker{text: n.text, tokens: n.tokens, at: i}
			w.next()
			i = w.at
		case slices.Contains(typeWords, t.token):
			i++
		default:
			return i
		}
	}
}

// call looks at a call of sqlc.arg or sqlc.narg. What sqlc replaces begins at
// the call and is as long as `sqlc.arg(name)` with all spaces before the name;
// so the name has to be as it is, and the parenthesis to follow it.
func (n *namedReader) call(e *pg.FuncCall) {
	if len(e.Funcname) != 2 || e.Funcname[0].GetString_().GetSval() != "sqlc" {
		return
	}
	if f := e.Funcname[1].GetString_().GetSval(); f != "arg" && f != "narg" {
		return
	}
	first := n.at(int(e.Location))
	name, end := n.token(first+4), n.token(first+5)
	if len(e.Args) == 1 && end.token == pg.Token_ASCII_41 && end.Start == name.End && plainName(name, n.text, e.Args[0]) {
		return
	}
	w := walker{text: n.text, tokens: n.tokens, at: first + 3}
	w.next()
	n.found = append(n.found, BrokenParam{Span: Span{int(e.Location), w.end()}, Kind: BrokenCall, Name: nameIn(e.Args)})
}

// plainName reports whether a token is the argument, spelled with as many
// bytes as the parameter's name has.
func plainName(t Token, text string, arg *pg.Node) bool {
	if ref := arg.GetColumnRef(); ref != nil {
		return len(ref.Fields) == 1 && len(ref.Fields[0].GetString_().GetSval()) == t.End-t.Start
	}
	value := arg.GetAConst().GetSval().GetSval()
	return isName(value) && t.In(text) == "'"+value+"'"
}

// nameIn is the only name among arguments, "" where there is none or more.
func nameIn(args []*pg.Node) string {
	if len(args) != 1 {
		return ""
	}
	name := args[0].GetAConst().GetSval().GetSval()
	if ref := args[0].GetColumnRef(); ref != nil && len(ref.Fields) == 1 {
		name = ref.Fields[0].GetString_().GetSval()
	}
	if !isName(name) {
		return ""
	}
	return name
}

// isName reports whether a text is a name that needs no quotes, in any case.
func isName(text string) bool {
	lower := strings.Map(func(c rune) rune {
		if c >= 0x80 {
			return 'a'
		}
		return c
	}, strings.ToLower(text))
	return isPlainIdent(lower)
}
