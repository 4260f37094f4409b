package idem

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rule is one compiled check: it says what is wrong with a canonical text.
type rule func(text string) *valueFault

// boundRule is a rule of a field, and the answer declared for it, nil if none.
type boundRule struct {
	breaks   rule
	declared *Problem
}

// compileRules prepares length, enum and Checks of a field.
func compileRules(f Field) ([]boundRule, error) {
	var rules []boundRule
	if f.Length > 0 {
		rules = append(rules, boundRule{breaks: lengthRule(f.Kind, CheckMaxLength, f.Length)})
	}
	if f.Enum != nil {
		rules = append(rules, boundRule{breaks: enumRule(f.Enum)})
	}
	for _, c := range f.Checks {
		r, err := compileRule(f.Kind, c)
		if err != nil {
			return nil, err
		}
		if c.Rounded && f.Kind == KindNumeric {
			r = roundedRule(r, c.Scale)
		}
		rules = append(rules, boundRule{r, c.Problem})
	}
	return rules, nil
}

// roundedRule applies a rule to the number that is stored.
func roundedRule(r rule, scale int) rule {
	return func(text string) *valueFault {
		if d, ok, fits := parseDecimal(text); ok && fits {
			text = d.round(scale).text()
		}
		return r(text)
	}
}

func compileRule(k Kind, c Check) (rule, error) {
	switch c.Op {
	case CheckMin, CheckMax, CheckExclusiveMin, CheckExclusiveMax:
		return limitRule(k, c)
	case CheckMinLength, CheckMaxLength:
		n, err := strconv.Atoi(c.Value)
		if err != nil {
			return nil, fmt.Errorf("the length %q of a check is no number", c.Value)
		}
		return lengthRule(k, c.Op, n), nil
	case CheckIn:
		return inRule(k, c)
	case CheckNotEqual:
		return notEqualRule(k, c)
	case CheckPattern:
		return patternRule(c.Value)
	default:
		return nil, fmt.Errorf("unknown check %d", c.Op)
	}
}

type boundForm struct {
	code, text string
	holds      func(order int) bool // order: the value compared with the bound
}

var boundForms = map[CheckOp]boundForm{
	CheckMin:          {"minimum", "must be at least ", func(o int) bool { return o >= 0 }},
	CheckMax:          {"maximum", "must be at most ", func(o int) bool { return o <= 0 }},
	CheckExclusiveMin: {"exclusive_minimum", "must be greater than ", func(o int) bool { return o > 0 }},
	CheckExclusiveMax: {"exclusive_maximum", "must be less than ", func(o int) bool { return o < 0 }},
}

func limitRule(k Kind, c Check) (rule, error) {
	if !k.ordered() {
		return nil, fmt.Errorf("a bound on %s depends on more than the value", k)
	}
	bound, err := canonBound(k, c.Value)
	if err != nil {
		return nil, err
	}
	form := boundForms[c.Op]
	return func(text string) *valueFault {
		if form.holds(compareTexts(k, text, bound)) {
			return nil
		}
		return &valueFault{form.code, form.text + bound}
	}, nil
}

// canonBound reads a bound. One of an integer may be a fraction or out of its
// range; the comparison is exact all the same.
func canonBound(k Kind, s string) (string, error) {
	if k.integer() {
		k = KindNumeric
	}
	text, fault := canonText(k, s, true)
	if fault != nil {
		return "", fmt.Errorf("the value %q of a check %s", s, fault.detail)
	}
	return printText(k, text), nil
}

func lengthRule(k Kind, op CheckOp, n int) rule {
	units := "characters"
	if k == KindBytea {
		units = "bytes"
	}
	if op == CheckMinLength {
		fault := &valueFault{"min_length", fmt.Sprintf("must have at least %d %s", n, units)}
		return func(text string) *valueFault { return faultUnless(lengthOf(k, text) >= n, fault) }
	}
	fault := &valueFault{"max_length", fmt.Sprintf("must have at most %d %s", n, units)}
	return func(text string) *valueFault { return faultUnless(lengthOf(k, text) <= n, fault) }
}

// lengthOf is PostgreSQL's length(): characters, or of bytea bytes.
func lengthOf(k Kind, text string) int {
	if k == KindBytea {
		return len(text)/2 - 1
	}
	return utf8.RuneCountInString(text)
}

func faultUnless(holds bool, fault *valueFault) *valueFault {
	if holds {
		return nil
	}
	return fault
}

func enumRule(labels []string) rule {
	fault := &valueFault{"enum", "must be one of " + strings.Join(labels, ", ")}
	return func(text string) *valueFault { return faultUnless(slices.Contains(labels, text), fault) }
}

func inRule(k Kind, c Check) (rule, error) {
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		var err error
		if values[i], err = canonBound(k, v); err != nil {
			return nil, err
		}
	}
	fault := &valueFault{"enum", "must be one of " + strings.Join(values, ", ")}
	return func(text string) *valueFault {
		return faultUnless(slices.ContainsFunc(values, func(v string) bool { return sameText(k, text, v) }), fault)
	}, nil
}

func notEqualRule(k Kind, c Check) (rule, error) {
	value, err := canonBound(k, c.Value)
	if err != nil {
		return nil, err
	}
	fault := &valueFault{"not_equal", "must not be " + strconv.Quote(value)}
	return func(text string) *valueFault { return faultUnless(!sameText(k, text, value), fault) }, nil
}

func sameText(k Kind, a, b string) bool {
	if k.ordered() {
		return compareTexts(k, a, b) == 0
	}
	return a == b
}

func patternRule(pattern string) (rule, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern of a check: %w", err)
	}
	fault := &valueFault{"pattern", "must match " + pattern}
	return func(text string) *valueFault { return faultUnless(re.MatchString(text), fault) }, nil
}
