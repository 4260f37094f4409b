package spec

import (
	"maps"
	"slices"
)

// Word is one annotation of the language, for documentation: `-- @Name Form` in
// SQL, `name: Example` in a spec.
type Word struct {
	Name      string
	Form      string   // of the arguments
	Example   string   // of its value in YAML; "" where any value will do
	Operation bool     // says how the outside reaches the operation, else it travels with the statement
	Once      bool     // stands once, whatever its arguments
	Reserved  bool     // belongs to the language, and is refused by this version
	Instead   []string // words that people try, for which this one is proposed
}

// Language lists all annotations, in the order in which they are explained.
func Language() []Word {
	var out []Word
	for _, w := range words() {
		word := Word{Name: w.name, Form: w.form, Example: w.example, Operation: w.operation, Once: w.once, Reserved: w.notYet}
		if w.name == "async" { // in SQL the word stands alone
			word.Form = ""
		}
		for _, alias := range slices.Sorted(maps.Keys(aliases)) {
			if aliases[alias] == w.name {
				word.Instead = append(word.Instead, alias)
			}
		}
		out = append(out, word)
	}
	return out
}
