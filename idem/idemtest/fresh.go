package idemtest

import (
	"crypto/rand"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
)

// fresh is a value like the example's that was not used before.
func fresh(in Input, example string, n int64) (any, error) {
	switch {
	case in.Type == Number:
		base, _ := strconv.ParseInt(example, 10, 64) // no whole number: from 0
		return base + 1000 + n, nil
	case in.Type == UUID:
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
	case in.Shape != "":
		text, err := shaped(in.Shape, n)
		if err != nil {
			return nil, fmt.Errorf("input %s: Shape: %w", in.Name, err)
		}
		return text, nil
	}
	suffix := "-" + strconv.FormatInt(n, 36)
	runes := []rune(example)
	if in.Length > 0 && len(runes)+len(suffix) > in.Length {
		runes = runes[:max(0, in.Length-len(suffix))]
	}
	return string(runes) + suffix, nil
}

// shaped is the text number n of a shape: as if its places were the digits of a
// number.
func shaped(shape string, n int64) (string, error) {
	tree, err := syntax.Parse(shape, syntax.Perl)
	if err != nil {
		return "", err
	}
	places, err := placesOf(tree.Simplify())
	if err != nil {
		return "", fmt.Errorf("%s: %w", shape, err)
	}
	text := make([]rune, len(places))
	for i, place := range slices.Backward(places) {
		base := int64(len(place))
		text[i] = place[n%base]
		n /= base
	}
	if n > 0 {
		return "", fmt.Errorf("%s has fewer texts than there are requests", shape)
	}
	return string(text), nil
}

// placesOf are the characters that may stand at each place of a shape.
func placesOf(tree *syntax.Regexp) (places [][]rune, err error) {
	switch tree.Op {
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			places = append(places, []rune{r})
		}
		return places, nil
	case syntax.OpCharClass:
		var place []rune
		for i := 0; i < len(tree.Rune); i += 2 {
			for r := tree.Rune[i]; r <= tree.Rune[i+1]; r++ {
				place = append(place, r)
			}
		}
		return append(places, place), nil
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			more, err := placesOf(sub)
			if err != nil {
				return nil, err
			}
			places = append(places, more...)
		}
		return places, nil
	}
	return nil, fmt.Errorf("%s is neither a literal nor a class, or it has no fixed count", tree)
}
