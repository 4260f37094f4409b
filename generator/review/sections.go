package review

import (
	"strings"

	"github.com/idemgen/idemgen/generator/plan"
)

// sectionNote says what a statement is for and when it runs.
func sectionNote(strategy plan.Strategy, name string) string {
	base, step, _ := strings.Cut(name, ".")
	switch base {
	case "keyed":
		if strategy == plan.Verbatim {
			return "third of the pipeline: your statement, the answer, and the record completed"
		}
		return "a request with a key: look-up, your statement, the answer and the record in one"
	case "prior":
		return "first of the pipeline: looks for the record"
	case "claim":
		return "second of the pipeline: inserts the key"
	case "forced":
		return "a request that asks to run again"
	case "unkeyed":
		return "a request without a key"
	case "existing":
		return "only where the intent is violated: the row that is there"
	case "session":
		return "first of every pipeline: the session's settings"
	case "step":
		return "step " + step
	}
	return ""
}
