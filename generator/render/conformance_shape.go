package render

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// enoughTexts is how many texts of a shape there must be: more than the
// requests that a run of the kit makes.
const enoughTexts = 10_000

// freshShape is what idemtest.Input.Shape takes, made of a type's pattern: texts
// of one length that hold the type's checks. "" where the type has no pattern,
// or no such shape is found.
func freshShape(t model.Type) string {
	at := slices.IndexFunc(t.Checks, func(c model.Check) bool { return c.Op == model.CheckPattern })
	if at < 0 {
		return ""
	}
	tree, err := syntax.Parse(t.Checks[at].Value, syntax.Perl)
	if err != nil {
		return ""
	}
	const longest = 64
	for extra := range longest {
		s := &shape{extra: extra}
		if !s.walk(tree) || len(s.places) > longest {
			return ""
		}
		if s.holds(t) {
			return s.String()
		}
	}
	return ""
}

// shape is the characters that may stand at each place of a text, as ranges.
type shape struct {
	places [][]rune
	extra  int // how often more than it must a part is repeated that may be
}

// walk adds the places of a pattern's tree, false where it has none.
func (s *shape) walk(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpQuest:
		return true
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			s.places = append(s.places, []rune{r, r})
		}
		return true
	case syntax.OpCharClass:
		s.places = append(s.places, plainRanges(tree.Rune))
		return true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.places = append(s.places, plainRanges([]rune{0, 'z'}))
		return true
	case syntax.OpAlternate:
		return s.walk(tree.Sub[0])
	case syntax.OpCapture, syntax.OpConcat:
		return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !s.walk(sub) })
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return s.repeat(tree)
	}
	return false
}

func (s *shape) repeat(tree *syntax.Regexp) bool {
	least, most := 0, -1
	switch tree.Op {
	case syntax.OpPlus:
		least = 1
	case syntax.OpRepeat:
		least, most = tree.Min, tree.Max
	}
	times := least + s.extra
	if most >= 0 {
		times = min(times, most)
	}
	for range times {
		if !s.walk(tree.Sub[0]) {
			return false
		}
	}
	return true
}

// plainRanges are the digits and letters of one case in a class, which are
// different texts whatever the collation; a class without them is its first
// character.
func plainRanges(ranges []rune) []rune {
	var plain []rune
	add := func(low, high rune) (found bool) {
		for i := 0; i+1 < len(ranges); i += 2 {
			if from, to := max(ranges[i], low), min(ranges[i+1], high); from <= to {
				plain, found = append(plain, from, to), true
			}
		}
		return found
	}
	add('0', '9')
	if !add('a', 'z') {
		add('A', 'Z')
	}
	if len(plain) == 0 {
		return []rune{ranges[0], ranges[0]}
	}
	return plain
}

// holds reports whether there are enough texts of the shape, and the first and
// the last of them hold the checks of a type.
func (s *shape) holds(t model.Type) bool {
	count := 1
	var first, last []rune
	for _, ranges := range s.places {
		first, last = append(first, ranges[0]), append(last, ranges[len(ranges)-1])
		choices := 0
		for i := 0; i < len(ranges); i += 2 {
			choices += int(ranges[i+1]-ranges[i]) + 1
		}
		count = min(count*choices, enoughTexts)
	}
	most := mostCharacters(t)
	return count == enoughTexts && (most == 0 || len(first) <= most) && textHolds(t, string(first)) && textHolds(t, string(last))
}

// String is a regular expression of literals, classes and counts.
func (s *shape) String() string {
	var b strings.Builder
	for i := 0; i < len(s.places); {
		n := i + 1
		for n < len(s.places) && slices.Equal(s.places[n], s.places[i]) {
			n++
		}
		b.WriteString(onePlace(s.places[i]))
		if n-i > 1 {
			b.WriteString("{" + strconv.Itoa(n-i) + "}")
		}
		i = n
	}
	return b.String()
}

func onePlace(ranges []rune) string {
	if len(ranges) == 2 && ranges[0] == ranges[1] {
		return regexp.QuoteMeta(string(ranges[0]))
	}
	var b strings.Builder
	for i := 0; i < len(ranges); i += 2 {
		b.WriteRune(ranges[i])
		if ranges[i+1] > ranges[i] {
			b.WriteString("-" + string(ranges[i+1]))
		}
	}
	return "[" + b.String() + "]"
}
