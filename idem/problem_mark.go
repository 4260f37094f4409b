package idem

import (
	"encoding/json"
	"maps"
)

// problemMark is kept among the headers of a recorded refusal whose body is not
// the runtime's own JSON: nothing else would tell it from a response. Its value
// is the code. No header can have such a name, and it is never sent.
const problemMark = ":problem"

// defaultHeaders are those of a refusal with the runtime's own JSON.
var defaultHeaders = []byte(`{"Content-Type":"` + problemType + `"}`)

// isProblem tells a refusal from a response, whatever its status and form.
func (a *answer) isProblem() bool { return a.err != nil || a.marked || a.isProblemJSON() }

// isProblemJSON reports whether the body is the runtime's own JSON.
func (a *answer) isProblemJSON() bool { return !a.marked && a.headers["Content-Type"] == problemType }

// mark notes that a refusal has a form of its own.
func (a *answer) mark(code string) { a.marked, a.code = true, code }

// takeMark reads the mark of a recorded refusal.
func (a *answer) takeMark() {
	if code, ok := a.headers[problemMark]; ok {
		delete(a.headers, problemMark)
		a.mark(code)
	}
}

// kept are the headers as a record has them.
func (a *answer) kept() map[string]string {
	kept := storable(a.headers)
	if !a.marked {
		return kept
	}
	all := make(map[string]string, len(kept)+1)
	maps.Copy(all, kept)
	all[problemMark] = a.code
	return all
}

// keptHeaders are they as JSON.
func (a *answer) keptHeaders() []byte {
	if len(a.headers) == 1 && a.isProblemJSON() {
		return defaultHeaders // nearly always
	}
	return marshal(a.kept())
}

// asError is a refusal for callers from Go: also one from a record, of which a
// body of another form tells status and code only.
func (a *answer) asError() *Error {
	if a.err != nil {
		return a.err
	}
	e := &Error{Status: a.status, Code: a.code, permanent: a.replayed}
	var p problem
	if !a.isProblemJSON() || json.Unmarshal(a.body, &p) != nil {
		return e
	}
	e.Code, e.Title, e.Detail, e.Existing = p.Code, p.Title, p.Detail, p.Existing
	for _, field := range p.Errors {
		e.Fields = append(e.Fields, FieldError(field))
	}
	return e
}
