package check

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idemgen/generator/model"
)

// broken says which rule of a type a canonical text breaks, as in "must be at
// least 5"; "" if it breaks none. A value of a request that breaks one is
// answered with 422 (semantics.md section 1), so a default that does would
// refuse every request that relies on it.
func broken(t model.Type, text string) string {
	switch {
	case len(t.Enum) > 0 && !slices.Contains(t.Enum, text):
		return "must be one of " + strings.Join(t.Enum, ", ")
	case t.Length > 0 && utf8.RuneCountInString(text) > t.Length:
		return fmt.Sprintf("is longer than %d characters", t.Length)
	case t.Kind == model.KindNumeric && overflows(t, text):
		return fmt.Sprintf("has more than %d digits before the point", t.Precision-t.Scale)
	}
	for _, c := range t.Checks {
		if !holds(t.Kind, c, text) {
			return demand(c)
		}
	}
	return ""
}

// overflows reports whether a number has more digits before the point than
// numeric(p,s) keeps, rounded to its scale.
func overflows(t model.Type, text string) bool {
	number, ok := rational(text)
	if !ok || t.Precision == 0 || t.Scale < 0 {
		return false
	}
	number, _ = rational(number.FloatString(t.Scale))
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision-t.Scale)), nil)
	return t.Precision >= t.Scale && new(big.Rat).Abs(number).Cmp(new(big.Rat).SetInt(limit)) >= 0
}

// holds reports whether a check holds for a canonical text. One that can't be
// judged here does: the runtime and the database judge it.
func holds(k model.Kind, c model.Check, text string) bool {
	if number, ok := rational(text); ok && c.Rounded && c.Scale >= 0 {
		text = number.FloatString(c.Scale) // half away from zero, as numeric rounds
	}
	switch c.Op {
	case model.CheckMinLength, model.CheckMaxLength:
		n, err := strconv.Atoi(c.Value)
		length := lengthOf(k, text)
		return err != nil || c.Op == model.CheckMinLength && length >= n || c.Op == model.CheckMaxLength && length <= n
	case model.CheckIn:
		return slices.ContainsFunc(c.Values, func(v string) bool { return sameValue(k, text, v) })
	case model.CheckNotEqual:
		return !sameValue(k, text, c.Value)
	case model.CheckPattern:
		pattern, err := regexp.Compile(c.Value)
		return err != nil || pattern.MatchString(text)
	}
	order, ok := compare(k, text, c.Value)
	return !ok || inside(c.Op, order)
}

// inside reports whether a bound holds, given how the value compares with it.
func inside(op model.CheckOp, order int) bool {
	switch op {
	case model.CheckMin:
		return order >= 0
	case model.CheckExclusiveMin:
		return order > 0
	case model.CheckMax:
		return order <= 0
	case model.CheckExclusiveMax:
		return order < 0
	}
	return true
}

// demand is what a check asks of a value, with the constraint that it is of.
func demand(c model.Check) string {
	forms := map[model.CheckOp]string{
		model.CheckMin: "must be at least " + c.Value, model.CheckMax: "must be at most " + c.Value,
		model.CheckExclusiveMin: "must be greater than " + c.Value, model.CheckExclusiveMax: "must be less than " + c.Value,
		model.CheckMinLength: "must have at least " + c.Value + " characters", model.CheckMaxLength: "must have at most " + c.Value + " characters",
		model.CheckIn: "must be one of " + strings.Join(c.Values, ", "), model.CheckNotEqual: "must not be " + quoted(c.Value),
		model.CheckPattern: "must match " + c.Value,
	}
	if c.Name == "" {
		return forms[c.Op]
	}
	return forms[c.Op] + " (" + c.Name + ")"
}

// lengthOf is PostgreSQL's length(): characters, or of bytea bytes.
func lengthOf(k model.Kind, text string) int {
	if k == model.KindBytea {
		return len(text)/2 - 1
	}
	return utf8.RuneCountInString(text)
}

func sameValue(k model.Kind, a, b string) bool {
	if order, ok := compare(k, a, b); ok {
		return order == 0
	}
	return a == b
}

// compare orders two canonical texts of a kind that has an order; ok is false
// for any other.
func compare(k model.Kind, a, b string) (order int, ok bool) {
	switch k {
	case model.KindTimestamptz, model.KindTimestamp, model.KindDate, model.KindTime:
		return strings.Compare(a, b), true // of fixed width
	case model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat4, model.KindFloat8:
		x, okX := rational(a)
		y, okY := rational(b)
		if okX && okY {
			return x.Cmp(y), true
		}
	}
	return 0, false
}

// rational is the exact value of a number; ok is false for anything else, and
// for one that is out of every type's range.
func rational(text string) (*big.Rat, bool) {
	if !numberForm.MatchString(text) || !reachable(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// reachable reports whether a number has an exponent and digits that the
// runtime takes: 1e1000000 is nine bytes, but a million digits.
func reachable(number string) bool {
	_, exponent, found := strings.Cut(strings.ToLower(number), "e")
	e, err := strconv.Atoi(exponent)
	return len(number) <= 1000 && (!found || err == nil && e >= -400 && e <= 400)
}
