package render

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// sample is a valid value of a type, as it is decoded from JSON; values of
// other turns differ. There may be none: a CHECK of an odd pattern, an enum of
// one label.
func sample(t model.Type, turn int) (any, bool) {
	one, ok := sampleOne(t, turn)
	if ok && (t.Array || t.List) {
		return []any{one}, true
	}
	return one, ok
}

func sampleOne(t model.Type, turn int) (any, bool) {
	if len(t.Enum) > 0 {
		return pick(t.Enum, turn)
	}
	for _, c := range t.Checks {
		if c.Op == model.CheckIn {
			return pick(c.Values, turn)
		}
	}
	switch t.Kind {
	case model.KindBool:
		return turn%2 == 0, true
	case model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat4, model.KindFloat8:
		return sampleNumber(t, turn)
	case model.KindText:
		return sampleText(t, turn)
	case model.KindRecord:
		return sampleRecord(t, turn)
	}
	return sampleFixed(t.Kind, turn), true
}

func pick(values []string, turn int) (any, bool) {
	if turn >= len(values) {
		return nil, false
	}
	return values[turn], true
}

// sampleFixed is a value of a type that no CHECK is known for.
func sampleFixed(kind model.Kind, turn int) any {
	day := turn + 1
	switch kind {
	case model.KindUUID:
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", day)
	case model.KindTimestamptz:
		return fmt.Sprintf("2026-01-%02dT00:00:00Z", day)
	case model.KindTimestamp:
		return fmt.Sprintf("2026-01-%02dT00:00:00", day)
	case model.KindDate:
		return fmt.Sprintf("2026-01-%02d", day)
	case model.KindTime:
		return fmt.Sprintf("%02d:00:00", day)
	case model.KindInterval:
		return fmt.Sprintf("PT%dH", day)
	case model.KindBytea:
		return []string{"AAE=", "AAI="}[turn%2]
	}
	return map[string]any{"example": json.Number(strconv.Itoa(day))}
}

// sampleNumber is a whole number within the bounds, the first one for turn 0.
func sampleNumber(t model.Type, turn int) (any, bool) {
	from := boundary(t)
	for n := from; n < from+1000; n++ {
		if !holds(t, n) {
			continue
		}
		if turn == 0 {
			return json.Number(strconv.FormatInt(n, 10)), true
		}
		turn--
	}
	return nil, false
}

// boundary is where the search for a number begins: at the lower bound, or
// somewhat below an upper one.
func boundary(t model.Type) int64 {
	from, bounded := int64(1), false
	for _, c := range t.Checks {
		bound, ok := new(big.Rat).SetString(c.Value)
		if !ok {
			continue
		}
		whole := new(big.Int).Div(bound.Num(), bound.Denom()).Int64()
		switch {
		case c.Op == model.CheckMin || c.Op == model.CheckExclusiveMin:
			from, bounded = whole, true
		case (c.Op == model.CheckMax || c.Op == model.CheckExclusiveMax) && !bounded:
			from = min(from, whole-10)
		}
	}
	return from
}

// holds reports whether the checks of a number hold.
func holds(t model.Type, n int64) bool {
	for _, c := range t.Checks {
		bound, ok := new(big.Rat).SetString(c.Value)
		if !ok {
			continue
		}
		order := new(big.Rat).SetInt64(n).Cmp(bound)
		switch {
		case c.Op == model.CheckMin && order < 0, c.Op == model.CheckExclusiveMin && order <= 0,
			c.Op == model.CheckMax && order > 0, c.Op == model.CheckExclusiveMax && order >= 0,
			c.Op == model.CheckNotEqual && order == 0:
			return false
		}
	}
	return true
}

// sampleText is a text of the right length, or one that its pattern matches.
func sampleText(t model.Type, turn int) (any, bool) {
	low, high := 0, mostCharacters(t)
	text := []string{"example", "other example"}[turn%2]
	for _, c := range t.Checks {
		n, _ := strconv.Atoi(c.Value) // no number: not one of the lengths
		switch c.Op {
		case model.CheckMinLength:
			low = max(low, n)
		case model.CheckPattern:
			made, ok := sampleMatch(c.Value, turn)
			if !ok {
				return nil, false
			}
			text = made
		}
	}
	if len(text) < low {
		text += strings.Repeat(text[:1], low-len(text))
	}
	if high > 0 && len(text) > high {
		text = text[:high]
	}
	return text, textHolds(t, text)
}

// mostCharacters is the longest that a text may be, 0 if there is no bound.
func mostCharacters(t model.Type) int {
	most := t.Length
	for _, c := range t.Checks {
		if n, err := strconv.Atoi(c.Value); err == nil && c.Op == model.CheckMaxLength && (most == 0 || n < most) {
			most = n
		}
	}
	return most
}

// textHolds reports whether the checks of a text hold, patterns included.
func textHolds(t model.Type, text string) bool {
	for _, c := range t.Checks {
		n, _ := strconv.Atoi(c.Value) // no number: not one of the lengths
		switch c.Op {
		case model.CheckMinLength:
			if len(text) < n {
				return false
			}
		case model.CheckNotEqual:
			if text == c.Value {
				return false
			}
		case model.CheckPattern:
			pattern, err := regexp.Compile(c.Value)
			if err != nil || !pattern.MatchString(text) {
				return false
			}
		}
	}
	return text != ""
}

// sampleMatch is a text that a pattern matches.
func sampleMatch(pattern string, turn int) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	spell(tree.Simplify(), turn, &b)
	return b.String(), true
}

// spell writes what a pattern's tree matches, for the most part: the result is
// tried before it is used.
func spell(tree *syntax.Regexp, turn int, b *strings.Builder) {
	switch tree.Op {
	case syntax.OpLiteral:
		b.WriteString(string(tree.Rune))
	case syntax.OpCharClass:
		b.WriteRune(classRune(tree.Rune, turn))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune('a' + rune(turn))
	case syntax.OpAlternate:
		spell(tree.Sub[turn%len(tree.Sub)], turn, b)
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat, syntax.OpStar, syntax.OpQuest:
		for _, sub := range tree.Sub {
			spell(sub, turn, b)
		}
	}
}

// classRune is a letter or digit of a class where it has one, which texts
// bear better than other characters.
func classRune(ranges []rune, turn int) rune {
	for _, want := range []rune{'a', 'A', '0'} {
		for i := 0; i+1 < len(ranges); i += 2 {
			if first := max(ranges[i], want); first+rune(turn) <= ranges[i+1] && first < want+26 {
				return first + rune(turn)
			}
		}
	}
	return ranges[0]
}

// sampleRecord has all members.
func sampleRecord(t model.Type, turn int) (any, bool) {
	object := map[string]any{}
	for _, m := range t.Members {
		value, ok := sample(m.Type, turn)
		switch {
		case ok:
			object[m.Name] = value
		case turn > 0: // one member that differs is enough
			if value, ok = sample(m.Type, 0); ok {
				object[m.Name] = value
			}
		case m.Required:
			return nil, false
		}
	}
	return object, len(object) > 0
}
