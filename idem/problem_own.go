package idem

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// refusal is the form in which an error is sent.
type refusal struct {
	contentType string
	body        []byte
}

// ownProblems are the error bodies of Options.Problem. Those of declared
// problems are made once: a fused statement takes the body of its @empty with
// every request, and the function must not run for each.
type ownProblems struct {
	render   func(*Error) (contentType string, body []byte)
	declared map[Problem]refusal
}

// newOwnProblems renders what the operations declare; nil without a function.
func newOwnProblems(render func(*Error) (string, []byte), ops []*Operation) (*ownProblems, error) {
	if render == nil {
		return nil, nil
	}
	own := &ownProblems{render: render, declared: map[Problem]refusal{}}
	for _, op := range ops {
		for _, p := range op.problems() {
			made, err := own.make(errDeclared(&p))
			if err != nil {
				return nil, fmt.Errorf("idem: Options.Problem, for %d %s of operation %s: %w", p.Status, p.Code, op.Name, err)
			}
			own.declared[p] = made
		}
	}
	return own, nil
}

// refusal is the body of an error: the one made at the start where the error is
// a declared one and says no more.
func (own *ownProblems) refusal(e *Error) (refusal, error) {
	if e.Detail == "" && len(e.Fields) == 0 && len(e.Existing) == 0 {
		if made, ok := own.declared[Problem{e.Status, e.Code, e.Title}]; ok {
			return made, nil
		}
	}
	return own.make(e)
}

// make calls the function. It gets a copy: without the cause, which is for logs.
func (own *ownProblems) make(e *Error) (made refusal, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	shown := *e
	shown.cause = nil
	if shown.Title == "" {
		shown.Title = http.StatusText(e.Status)
	}
	made.contentType, made.body = own.render(&shown)
	return made, made.validate()
}

// validate refuses what could not be sent, or not be recorded: a body is stored
// as text.
func (r refusal) validate() error {
	kind, _, err := mime.ParseMediaType(r.contentType)
	switch {
	case err != nil || !strings.Contains(kind, "/"):
		return fmt.Errorf("%q is not a content type", r.contentType)
	case strings.ContainsFunc(r.contentType, func(c rune) bool { return c < ' ' || c > '~' }):
		return fmt.Errorf("the content type %q has characters that no header may have", r.contentType)
	case len(r.body) == 0:
		return fmt.Errorf("the body is empty")
	case len(r.body) > storeLimit:
		return fmt.Errorf("the body has %d bytes, more than the %d that are recorded", len(r.body), storeLimit)
	case !utf8.Valid(r.body) || bytes.IndexByte(r.body, 0) >= 0:
		return fmt.Errorf("the body is not text in UTF-8 without U+0000")
	}
	return nil
}

// problems are all that the operation declares.
func (op *Operation) problems() []Problem {
	all := checkProblems(op.Fields)
	for i := range op.Steps {
		step := &op.Steps[i]
		if step.Empty.Problem != nil {
			all = append(all, *step.Empty.Problem)
		}
		all = append(all, step.Requires...)
		for _, rule := range step.Errors {
			all = append(all, rule.Problem)
		}
	}
	return all
}

func checkProblems(fields []Field) []Problem {
	var all []Problem
	for i := range fields {
		for _, check := range fields[i].Checks {
			if check.Problem != nil {
				all = append(all, *check.Problem)
			}
		}
		all = append(all, checkProblems(fields[i].Elem)...)
	}
	return all
}
