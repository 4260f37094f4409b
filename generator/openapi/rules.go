package openapi

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/model"
)

// rules are the constraints of a value. What JSON Schema can't say is said in
// words.
type rules struct {
	bounds  map[model.CheckOp]string
	lengths map[model.CheckOp]int
	enum    []*yaml.Node
	pattern string
	not     *yaml.Node
	said    string
}

// rulesOf collects the constraints of a type. Those of an answer are only what
// its SQL type can't break: rows may be older than a CHECK.
func rulesOf(t model.Type, s side, bigintString bool) rules {
	r := rules{bounds: map[model.CheckOp]string{}, lengths: map[model.CheckOp]int{}}
	if t.Length > 0 {
		r.lengths[model.CheckMaxLength] = t.Length
	}
	for _, label := range t.Enum {
		r.enum = append(r.enum, text(label))
	}
	if isFloat(t.Kind) {
		r.pattern = "^(NaN|Infinity|-Infinity)$"
	}
	if s == answered {
		return r
	}
	switch t.Kind {
	case model.KindInt2:
		r.bounds[model.CheckMin], r.bounds[model.CheckMax] = "-32768", "32767"
	case model.KindNumeric:
		r.pattern = decimalPattern
	case model.KindInt8:
		if bigintString {
			r.pattern = `^-?[0-9]+$`
		}
	}
	for _, c := range t.Checks {
		r.add(t, c, bigintString)
	}
	return r
}

// add takes one CHECK over.
func (r *rules) add(t model.Type, c model.Check, bigintString bool) {
	switch c.Op {
	case model.CheckMin, model.CheckMax, model.CheckExclusiveMin, model.CheckExclusiveMax:
		r.bound(t, c, bigintString)
	case model.CheckMinLength, model.CheckMaxLength:
		r.length(t, c)
	case model.CheckIn:
		r.in(t, c)
	case model.CheckNotEqual:
		r.notEqual(t, c)
	case model.CheckPattern:
		r.match(c.Value)
	}
}

var boundWords = map[model.CheckOp]string{
	model.CheckMin: "at least", model.CheckMax: "at most",
	model.CheckExclusiveMin: "greater than", model.CheckExclusiveMax: "less than",
}

// bound: a keyword where the value is a JSON number. A decimal is a string, or
// a number; the keyword reaches the number alone, and the words both.
func (r *rules) bound(t model.Type, c model.Check, bigintString bool) {
	isNumber := isInteger(t.Kind) && !bigintString || isFloat(t.Kind) || t.Kind == model.KindNumeric && !c.Rounded
	if isNumber && number(c.Value) != nil {
		r.bounds[c.Op] = c.Value
	}
	if !isNumber || t.Kind == model.KindNumeric {
		r.say("Must be " + boundWords[c.Op] + " " + c.Value + ".")
	}
}

func isInteger(k model.Kind) bool {
	return k == model.KindInt2 || k == model.KindInt4 || k == model.KindInt8
}

func (r *rules) length(t model.Type, c model.Check) {
	n, err := strconv.Atoi(c.Value)
	switch known, ok := r.lengths[c.Op]; {
	case err != nil:
	case t.Kind == model.KindBytea:
		r.say("Must have " + strings.ReplaceAll(string(c.Op), "_length", "imum ") + c.Value + " bytes.")
	case !ok || c.Op == model.CheckMinLength && n > known || c.Op == model.CheckMaxLength && n < known:
		r.lengths[c.Op] = n
	}
}

func (r *rules) in(t model.Type, c model.Check) {
	if r.enum != nil {
		return // an enum's labels, or an earlier CHECK: the words below would repeat
	}
	for _, v := range c.Values {
		if n := literal(t.Kind, v); n != nil {
			r.enum = append(r.enum, n)
		}
	}
	if t.Kind == model.KindNumeric { // 1 and 1.0 are the same number, not the same text
		r.enum = nil
		r.say("Must be one of " + strings.Join(c.Values, ", ") + ".")
	}
}

func (r *rules) notEqual(t model.Type, c model.Check) {
	value := literal(t.Kind, c.Value)
	if r.not == nil && value != nil && t.Kind != model.KindNumeric {
		r.not = object(entry{"const", value})
		return
	}
	r.say("Must not be " + strconv.Quote(c.Value) + ".")
}

// literal is a value of a kind as JSON has it.
func literal(k model.Kind, s string) *yaml.Node {
	if isInteger(k) || isFloat(k) {
		return number(s)
	}
	if k == model.KindBool {
		return boolean(s == "true")
	}
	return text(s)
}

// match keeps a pattern that means the same in ECMA-262, in which JSON Schema's
// are written, and words the others.
func (r *rules) match(pattern string) {
	same, ok := portable(pattern)
	if r.pattern != "" || !ok {
		r.say("Must match " + pattern)
		return
	}
	r.pattern = same
}

func (r *rules) say(sentence string) { r.said = join(r.said, sentence) }

// entries are the keywords, in a fixed order.
func (r *rules) entries(nullable bool) []entry {
	var out []entry
	for _, k := range []struct {
		op   model.CheckOp
		name string
	}{
		{model.CheckMin, "minimum"}, {model.CheckExclusiveMin, "exclusiveMinimum"},
		{model.CheckMax, "maximum"}, {model.CheckExclusiveMax, "exclusiveMaximum"},
	} {
		if v, ok := r.bounds[k.op]; ok {
			out = append(out, entry{k.name, number(v)})
		}
	}
	for _, k := range []struct {
		op   model.CheckOp
		name string
	}{{model.CheckMinLength, "minLength"}, {model.CheckMaxLength, "maxLength"}} {
		if n, ok := r.lengths[k.op]; ok {
			out = append(out, entry{k.name, integer(int64(n))})
		}
	}
	enum := list(r.enum)
	if enum != nil {
		if nullable {
			enum.Content = append(enum.Content, null())
		}
		enum.Style = yaml.FlowStyle
	}
	return append(out, entry{"pattern", optional(r.pattern)}, entry{"enum", enum}, entry{"not", r.not})
}
