package contract

import (
	"net/http"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// Problem is one problem that an operation can answer with.
type Problem struct {
	Status int
	Code   string
	Title  string
	Detail string // "" for none, or where it depends on the request
	// Retryable: the same request with the same key may be answered otherwise.
	Retryable bool
	// Declared: by the operation's own words, not by the runtime's rules.
	Declared bool
	// Existing is the resource that may be shown beside the refusal, nil for none.
	Existing *Node
}

// problems are all that an operation can answer with, by status and then in the
// order in which a request can meet them; each code of a status once.
func problems(svc *model.Service, op *plan.Operation) []Problem {
	l := &problemList{svc: svc, op: op, m: op.Model}
	l.reading()
	l.keys()
	l.declared()
	l.database()
	if op.Model.Calls() > 0 {
		l.add("held", "given-up")
	}
	return l.sorted()
}

// sorted adds what any operation may be answered with, and gives all by status.
func (l *problemList) sorted() []Problem {
	l.add("internal", "unavailable")
	slices.SortStableFunc(l.list, byStatus)
	return l.list
}

func byStatus(a, b Problem) int { return a.Status - b.Status }

type problemList struct {
	svc  *model.Service
	op   *plan.Operation
	m    *model.Operation
	list []Problem
}

func (l *problemList) put(p Problem) {
	for i, known := range l.list {
		if known.Status == p.Status && known.Code == p.Code {
			l.list[i].Declared = known.Declared || p.Declared
			return
		}
	}
	l.list = append(l.list, p)
}

func (l *problemList) add(codes ...string) {
	for _, code := range codes {
		l.put(runtimeProblem(code))
	}
}

func (l *problemList) from(in model.InputFrom) bool {
	return slices.ContainsFunc(l.m.Inputs, func(i *model.Input) bool { return i.From == in })
}

// reading are the refusals of what can't be read.
func (l *problemList) reading() {
	l.caller()
	if TakesBody(l.m.Method) {
		l.add("media-type", "body-too-large", "body-unreadable")
		l.body()
	}
	l.add("query-malformed")
	if l.from(model.FromQuery) {
		l.add("query-duplicate")
	}
	if !l.svc.UnknownFields {
		l.add("query-unknown")
	}
	if l.from(model.FromHeader) {
		l.add("header-duplicate", "header-malformed")
	}
	if l.from(model.FromPath) || l.from(model.FromQuery) || l.from(model.FromHeader) || l.from(model.FromBody) {
		l.add("input-invalid")
	}
}

// caller is the refusal of requests that come from nobody.
func (l *problemList) caller() {
	if l.svc.ScopeSource.Kind != model.SourceNone || len(l.svc.Caller) > 0 {
		l.add("unauthenticated")
	}
}

func (l *problemList) body() {
	if l.m.BodyWhole && slices.ContainsFunc(l.m.Inputs, isBytes) {
		return
	}
	if slices.ContainsFunc(l.m.Inputs, func(in *model.Input) bool { return in.From == model.FromBody && isRequired(in) }) {
		l.add("body-missing")
	}
	l.add("body-malformed", "member-duplicate")
	if !l.svc.UnknownFields {
		l.add("member-unknown")
	}
}

func isBytes(in *model.Input) bool {
	return in.From == model.FromBody && in.Type.Kind == model.KindBytea && in.Name == ""
}

// TakesBody reports whether requests of a method carry a body that means
// anything (RFC 9110 section 9.3).
func TakesBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// keys are the refusals that have to do with the key.
func (l *problemList) keys() {
	key := l.m.Key
	if !key.Protects() {
		return
	}
	if key.From == "header" && key.Required || key.From == "source" {
		l.add("key-missing")
	}
	if key.From == "header" {
		l.add("key-invalid")
	}
	l.add("force-retry-invalid")
	if !l.m.Policy.ForceRetry {
		l.add("force-retry-refused")
	}
	if l.svc.Profile != profileGateway {
		l.add("in-flight")
	}
	l.add("response-not-stored")
	if !l.m.Policy.NoPrint {
		reused := runtimeProblem("key-reused")
		if l.svc.Profile == "stripe" {
			reused.Status = http.StatusBadRequest
		}
		l.put(reused)
	}
}

// declared are those of the operation's own words.
func (l *problemList) declared() {
	put := func(p model.Problem) {
		if p.Status != 0 {
			l.put(Problem{Status: p.Status, Code: p.Code, Title: title(p), Declared: true})
		}
	}
	for _, step := range l.m.Steps {
		if mayBeEmpty(l.op, step) && !step.Empty.Fine {
			put(step.Empty.Problem)
		}
		for _, r := range step.Requires {
			put(r.Problem)
		}
		for _, r := range step.Errors {
			put(r.Problem)
		}
		l.intent(step)
	}
}

func title(p model.Problem) string {
	if p.Title == "" {
		return http.StatusText(p.Status)
	}
	return p.Title
}

// intent is the conflict with a resource that is there already, which an @error
// for its constraint may word.
func (l *problemList) intent(step *model.Step) {
	if step.Intent == nil {
		return
	}
	conflict := runtimeProblem("intent-conflict")
	for _, r := range step.Errors {
		if r.Constraint == step.Intent.Index || r.SQLState == "23505" {
			conflict = Problem{Status: r.Problem.Status, Code: r.Problem.Code, Title: title(r.Problem)}
			break
		}
	}
	conflict.Declared = true
	if l.shows(step) {
		conflict.Existing = rowOf(step)
	}
	for i, known := range l.list {
		if known.Status == conflict.Status && known.Code == conflict.Code {
			l.list[i].Existing = conflict.Existing
			return
		}
	}
	l.list = append(l.list, conflict)
}

// shows reports whether the plan looks the resource up.
func (l *problemList) shows(step *model.Step) bool {
	return hasRow(step) && slices.ContainsFunc(l.op.Statements, func(s plan.Statement) bool {
		return s.Name == "existing" || s.Name == "existing."+step.Name
	})
}

// database are the refusals of constraints that nothing is declared for.
func (l *problemList) database() {
	for _, step := range l.m.Steps {
		shape := step.Query.Shape
		if step.Go == nil && len(shape.Writes) == 0 && !shape.Calls {
			continue
		}
		l.add("already-exists", "still-referenced")
		if step.Go != nil || shape.Kind != model.Delete || len(shape.Writes) > 1 {
			l.add("reference-not-found")
		}
	}
	if len(l.m.Inputs) > 0 || slices.ContainsFunc(l.m.Steps, func(s *model.Step) bool { return len(s.Query.Shape.Writes) > 0 }) {
		l.add("invalid-value")
	}
}

// Codes are the codes of an operation, sorted, each once.
func (o *Operation) Codes() []string {
	codes := make([]string, len(o.Problems))
	for i, p := range o.Problems {
		codes[i] = p.Code
	}
	slices.SortFunc(codes, strings.Compare)
	return slices.Compact(codes)
}
