package schema

import (
	"strings"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// splitStatements cuts a text at its semicolons, those inside parentheses,
// strings and the bodies of BEGIN ATOMIC functions apart. Texts that can't be
// cut into tokens are one piece.
func splitStatements(text string) []sqltext.Span {
	tokens, err := sqltext.Tokens(text)
	if err != nil {
		return []sqltext.Span{{Start: 0, End: len(text)}}
	}
	var out []sqltext.Span
	start, depth, blocks := 0, 0, 0
	for i, t := range tokens {
		word := strings.ToUpper(t.In(text))
		switch {
		case word == "(":
			depth++
		case word == ")" && depth > 0:
			depth--
		case word == "ATOMIC" && i > 0 && strings.EqualFold(tokens[i-1].In(text), "BEGIN"):
			blocks++
		case blocks > 0 && word == "CASE":
			blocks++
		case blocks > 0 && word == "END":
			blocks--
		case word == ";" && depth == 0 && blocks == 0:
			out = append(out, sqltext.Span{Start: start, End: t.Start})
			start = t.End
		}
	}
	return append(out, sqltext.Span{Start: start, End: len(text)})
}
