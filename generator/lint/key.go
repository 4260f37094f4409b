package lint

import (
	"fmt"
	"strconv"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const (
	shortText  = 8     // a text of fewer characters is no key
	fewNumbers = 65536 // a number with fewer possible values is none either
	anonymous  = 22    // characters of a key that nobody can guess: 128 bits in base64
)

// key finds keys that the client chooses among few values.
func (c *checker) key(op *model.Operation) {
	in := op.Key.Source.Input
	if op.Key.From != "source" || in == nil || in.From == model.FromCaller {
		return
	}
	what := few(in.Type)
	if what == "" && c.svc.ScopeSource.Kind == model.SourceNone {
		what = guessable(in.Type)
	}
	if what == "" {
		return
	}
	c.warn(op, diag.RiskKey, op.Pos, fmt.Sprintf("its key is %s.%s, %s: two requests easily have the same", in.From, in.Name, what),
		fmt.Sprintf("use a value that is made for one request, or @key header; or take the risk: --allow %s:%s", diag.RiskKey, op.Name))
}

// few says why a type has few values, "" if it has many.
func few(t model.Type) string {
	switch {
	case t.Kind == model.KindBool:
		return "a boolean"
	case len(t.Enum) > 0:
		return fmt.Sprintf("one of %d words", len(t.Enum))
	case t.Kind == model.KindDate:
		return "a day"
	case t.Kind == model.KindTime:
		return "a time of day"
	case t.Kind == model.KindInt2:
		return "a smallint"
	case t.Kind == model.KindText && longest(t) > 0 && longest(t) < shortText:
		return fmt.Sprintf("a text of at most %d characters", longest(t))
	}
	for _, check := range t.Checks {
		if check.Op == model.CheckIn {
			return fmt.Sprintf("one of %d values", len(check.Values))
		}
	}
	if n, ok := span(t); ok && n < fewNumbers {
		return fmt.Sprintf("a number with %d possible values", n+1)
	}
	return ""
}

// longest is the greatest length of a text, 0 for no limit.
func longest(t model.Type) int {
	n := t.Length
	for _, check := range t.Checks {
		if max, err := strconv.Atoi(check.Value); check.Op == model.CheckMaxLength && err == nil && (n == 0 || max < n) {
			n = max
		}
	}
	return n
}

// span is the distance between the bounds of a whole number that has both.
func span(t model.Type) (int64, bool) {
	if t.Kind != model.KindInt4 && t.Kind != model.KindInt8 {
		return 0, false
	}
	var low, high *int64
	for _, check := range t.Checks {
		v, err := strconv.ParseInt(check.Value, 10, 64)
		if err != nil {
			continue
		}
		switch check.Op {
		case model.CheckMin, model.CheckExclusiveMin:
			low = &v
		case model.CheckMax, model.CheckExclusiveMax:
			high = &v
		}
	}
	if low == nil || high == nil || *high < *low || *low < 0 {
		return 0, false
	}
	return *high - *low, true
}

// guessable says why a key of nobody's scope can be guessed, "" if it can't.
func guessable(t model.Type) string {
	switch t.Kind {
	case model.KindUUID:
		return ""
	case model.KindText:
		for _, check := range t.Checks {
			if n, err := strconv.Atoi(check.Value); check.Op == model.CheckMinLength && err == nil && n >= anonymous {
				return ""
			}
		}
		return fmt.Sprintf("a text that may have fewer than %d characters, and there is no scope", anonymous)
	}
	return "a value that anybody can guess, and there is no scope"
}
