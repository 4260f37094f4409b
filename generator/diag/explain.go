package diag

import (
	"maps"
	"slices"
)

// Explanation is what `idemgen explain CODE` prints: what a diagnostic means,
// and one input that causes it beside one that doesn't.
type Explanation struct {
	Code    Code
	Title   string // a few words, without a final period
	Meaning string // one or more paragraphs of plain text
	Wrong   string // an example that causes it; may have several lines
	Right   string // the same, corrected
}

// Explain returns the entry of a code, and whether there is one.
func Explain(code Code) (Explanation, bool) {
	e, ok := registry()[code]
	return e, ok
}

// Codes returns every code that can be explained, sorted.
func Codes() []Code {
	return slices.Sorted(maps.Keys(registry()))
}

func registry() map[Code]Explanation {
	all := make(map[Code]Explanation)
	for _, group := range [][]Explanation{explainConfig(), explainWords(), explainSQL(), explainOperations(), explainAnswers(), explainEvents(), explainRisks()} {
		for _, e := range group {
			all[e.Code] = e
		}
	}
	return all
}
