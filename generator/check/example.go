package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// example checks @example against the request schema.
func (b *builder) example() {
	decl := b.d.words.Example
	if decl == nil {
		return
	}
	refuse := func(message, hint string) {
		b.diags.Errorf(diag.ExampleForm, decl.Pos, "the example is refused: %s", message).Hint("%s", hint)
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(decl.Value))
	decoder.UseNumber()
	var compact bytes.Buffer
	if decoder.Decode(&value) != nil || json.Compact(&compact, []byte(decl.Value)) != nil {
		return // refused when it was read
	}
	b.op.Example = compact.String()
	schema := b.bodySchema()
	if !b.op.BodyWhole && len(schema.members) == 0 {
		refuse("the operation takes no body", "remove it")
		return
	}
	if problem := schema.check("", value); problem != "" {
		refuse(problem, "make it a valid request: conformance_test.go sends it")
	}
}

// bodyNode is the request body as a tree.
type bodyNode struct {
	typ      model.Type
	required bool
	nullable bool
	object   bool
	members  map[string]*bodyNode
}

func (b *builder) bodySchema() *bodyNode {
	root := &bodyNode{object: true, required: true, members: map[string]*bodyNode{}}
	for _, in := range b.op.Inputs {
		if in.From != model.FromBody {
			continue
		}
		if in.Name == "" {
			return leaf(in.Type, in.Required, in.Nullable)
		}
		at := root
		parts := strings.Split(in.Name, ".")
		for _, part := range parts[:len(parts)-1] {
			next := at.members[part]
			if next == nil {
				next = &bodyNode{object: true, nullable: true, members: map[string]*bodyNode{}}
				at.members[part] = next
			}
			next.required = next.required || in.Required
			next.nullable = !next.required // null there: all members absent
			at = next
		}
		at.members[parts[len(parts)-1]] = leaf(in.Type, in.Required, in.Nullable)
	}
	return root
}

func leaf(t model.Type, required, nullable bool) *bodyNode {
	n := &bodyNode{typ: t, required: required, nullable: nullable}
	if t.Kind == model.KindRecord {
		n.object, n.members = true, map[string]*bodyNode{}
		for _, m := range t.Members {
			n.members[m.Name] = leaf(m.Type, m.Required, m.Type.Nullable)
		}
	}
	return n
}

// check says what is wrong with a value, "" if nothing is.
func (n *bodyNode) check(at string, value any) string {
	if value == nil {
		if n.nullable {
			return ""
		}
		return cmpOr(at, "it") + " can't be null"
	}
	if !n.typ.List && !n.typ.Array {
		return n.checkOne(at, value)
	}
	list, ok := value.([]any)
	if !ok {
		return cmpOr(at, "it") + " must be a list"
	}
	for i, v := range list {
		if v == nil && n.typ.Array {
			continue
		}
		if problem := n.checkOne(fmt.Sprintf("%s/%d", at, i), v); problem != "" {
			return problem
		}
	}
	return ""
}

func (n *bodyNode) checkOne(at string, value any) string {
	if !n.object {
		return checkScalar(at, n.typ, value)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return cmpOr(at, "it") + " must be an object"
	}
	for _, name := range sortedKeys(object) {
		if n.members[name] == nil {
			return fmt.Sprintf("%s/%s is not a member", at, name)
		}
	}
	for _, name := range sortedKeys(n.members) {
		v, present := object[name]
		if !present {
			if n.members[name].required {
				return fmt.Sprintf("%s/%s is missing", at, name)
			}
			continue
		}
		if problem := n.members[name].check(at+"/"+name, v); problem != "" {
			return problem
		}
	}
	return ""
}

func checkScalar(at string, t model.Type, value any) string {
	if t.Kind == model.KindJSON || t.Kind == model.KindBytea && at == "" { // bytea is the body as it is
		return ""
	}
	text, ok, want := scalarText(t.Kind, value)
	if !ok {
		return at + " must be " + want
	}
	if (t.Kind == model.KindFloat4 || t.Kind == model.KindFloat8) && slices.Contains(floatWords, text) {
		return ""
	}
	text, err := canonicalScalar(t, text)
	if err != nil {
		return at + " " + strings.TrimPrefix(err.Error(), "it ")
	}
	if what := broken(t, text); what != "" {
		return at + " " + what
	}
	return ""
}

// floatWords are the values of real and double precision that JSON has no
// number for.
var floatWords = []string{"NaN", "Infinity", "-Infinity"}

// scalarText is the text of a JSON value of the form that a kind has; else
// what it must be (language.md section 4).
func scalarText(k model.Kind, value any) (text string, ok bool, want string) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	switch k {
	case model.KindBool:
		is, isBool := value.(bool)
		return strconv.FormatBool(is), isBool, "true or false"
	case model.KindInt2, model.KindInt4, model.KindInt8:
		if isNumber {
			text = wholeNumber(number.String())
		}
		return text, isNumber || isText && k == model.KindInt8, "a number"
	case model.KindNumeric, model.KindFloat4, model.KindFloat8:
		if isNumber {
			text = number.String()
		}
		return text, isNumber || isText && (k == model.KindNumeric || slices.Contains(floatWords, text)), "a number"
	}
	return text, isText, "a string"
}

// wholeNumber writes 1.0 and 1e3 as integers are written.
func wholeNumber(text string) string {
	if n, ok := rational(text); ok && n.IsInt() {
		return n.Num().String()
	}
	return text
}
