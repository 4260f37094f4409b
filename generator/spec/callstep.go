package spec

import (
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// OutsideCall is what a `call:` step says beside its function: it calls another
// system, between two transactions.
type OutsideCall struct {
	Undo  *Name         // the function that takes the call back
	Hold  bool          // unknown: hold
	Lease time.Duration // 0: the default
}

// The bounds of `lease:`.
const (
	minLease = time.Second
	maxLease = time.Hour
)

// callOption reads `undo:`, `unknown:` and `lease:`.
func (r *endpointReader) callOption(s *Step, k yamltree.Entry) {
	text, ok := r.text(k)
	if !ok {
		return
	}
	out := s.Go.Outside
	switch k.Key.Value {
	case "undo":
		if r.funcName("undo", text) {
			out.Undo = &Name{Value: text.Value, Pos: text.Pos}
		}
	case "unknown":
		if text.Value != "retry" && text.Value != "hold" {
			r.diags.Errorf(diag.SpecForm, text.Pos, "`unknown:` is retry or hold, not %q", text.Value).
				Hint("retry calls again with the same key; hold waits for an operator")
			return
		}
		out.Hold = text.Value == "hold"
	case "lease":
		d, ok := parseDuration(text.Value)
		if !ok || d < minLease || d > maxLease {
			r.diags.Errorf(diag.SpecForm, text.Pos, "`lease:` is a duration from 1s to 1h, not %q", text.Value).
				Hint("write lease: 30s: how long another process waits for one that has died")
			return
		}
		out.Lease = d
	}
}

// funcName refuses what can't be a field of Funcs.
func (r *endpointReader) funcName(key string, text yamltree.Scalar) bool {
	if isOperation(text.Value) {
		return true
	}
	r.diags.Errorf(diag.SpecForm, text.Pos, "%q is not the name of a Go function: a capital letter, then letters and digits", text.Value).
		Hint("write %s: %s; it is the field %s of the emitted Funcs", key, textExamples[key], textExamples[key])
	return false
}

// parseAsync reads @async, which stands alone; in YAML it is true or false.
func parseAsync(a *args, d *Declarations) {
	f, given := a.take()
	switch {
	case a.where == inQuery && given:
		a.fail(diag.AnnotationForm, a.pos(f), "@async has no arguments, this one has %s", f.text).Hint("write @async alone")
		return
	case a.where != inQuery && f.text != "true" && f.text != "false":
		a.fail(diag.AnnotationForm, a.pos(f), "`async:` is true or false").Hint("write async: true")
		return
	}
	if a.rest(); !a.failed && f.text != "false" {
		at := a.wordAt
		d.Async = &at
	}
}
