package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// response is all that a status can mean for an operation: an answer, problems,
// or both.
func (d *document) response(op *contract.Operation, status int) *yaml.Node {
	var problems []contract.Problem
	for _, p := range op.Problems {
		if p.Status == status {
			problems = append(problems, p)
		}
	}
	i := slices.IndexFunc(op.Answers, func(a contract.Answer) bool { return a.Status == status })
	if key, ok := commonKey(op, problems); ok && i < 0 {
		return d.used.response(responseName(op, status), key, func() *yaml.Node { return d.ownResponse(op, i, problems) })
	}
	return d.ownResponse(op, i, problems)
}

// commonKey says what a response of the runtime's own problems depends on, false
// for one with problems of the operation.
func commonKey(op *contract.Operation, problems []contract.Problem) (string, bool) {
	key := op.Model.Key
	parts := []string{strconv.FormatBool(key.From == "header"), strconv.FormatBool(key.Protects())}
	for _, p := range problems {
		if p.Declared {
			return "", false
		}
		parts = append(parts, strconv.Itoa(p.Status)+" "+p.Code)
	}
	return strings.Join(parts, ","), true
}

// responseName says what the problems of a status mostly depend on, so that a
// further operation renames no other's.
func responseName(op *contract.Operation, status int) string {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	switch key := op.Model.Key; {
	case key.From == "header":
		return name + "WithKey"
	case key.Protects():
		return name + "WithDerivedKey"
	}
	return name
}

// ownResponse renders answer i of an operation, if there is one, and problems.
func (d *document) ownResponse(op *contract.Operation, i int, problems []contract.Problem) *yaml.Node {
	var said []string
	var content, headers []entry
	if i >= 0 {
		a := op.Answers[i]
		said = append(said, d.answerSays(op, a))
		content = append(content, entry{mediaJSON, d.answerBody(op, a)})
		headers = d.declaredHeaders(a)
	}
	if len(problems) > 0 {
		said = append(said, problemsSay(problems))
		content = mergeContent(content, d.problemContent(op, problems))
	}
	headers = append(headers, d.ownHeaders(op, i >= 0, problems)...)
	return object(
		entry{"description", text(strings.Join(said, "\n\n"))},
		entry{"headers", object(headers...)},
		entry{"content", object(content...)},
	)
}

// mergeContent adds the form of problems to that of an answer: one of both, where
// they have one media type.
func mergeContent(answer, problem []entry) []entry {
	if len(answer) == 0 || answer[0].value == nil || answer[0].name != problem[0].name {
		return append(answer, problem...)
	}
	schemaOf := func(media *yaml.Node) *yaml.Node { return media.Content[1] } // the first entry is the schema
	both := list([]*yaml.Node{schemaOf(answer[0].value), schemaOf(problem[0].value)})
	return []entry{{answer[0].name, object(entry{"schema", object(entry{"anyOf", both})})}}
}

func (d *document) answerSays(op *contract.Operation, a contract.Answer) string {
	switch {
	case op.StatusOf != nil:
		return statusSays(op)
	case op.Outcome != nil && a.Status == http.StatusAccepted:
		return "Accepted: it is done later. `Location` says where its status is."
	case a.Running:
		return "A request with this key is still running: the body is empty, and " + gatewayStatus + " is `processing`."
	case a.Status >= 400:
		return http.StatusText(a.Status) + ". What the operation wrote stays."
	case a.Status == http.StatusOK && d.gateway() && op.Model.Key.Protects():
		return "OK. The body is empty, and " + gatewayStatus + " is `processing`, while a request with this key is still running."
	}
	return http.StatusText(a.Status) + "."
}

// answerBody is the media type object of an answer, nil where it has no body.
func (d *document) answerBody(op *contract.Operation, a contract.Answer) *yaml.Node {
	if a.Body == nil {
		return nil
	}
	schema := d.answerSchema(op, a.Body)
	if a.Null {
		schema = object(entry{"oneOf", list([]*yaml.Node{schema, object(entry{"type", text(typeNull)})})})
	}
	return object(entry{"schema", schema})
}

// answerSchema is the one schema of all answers of an operation.
func (d *document) answerSchema(op *contract.Operation, body *contract.Node) *yaml.Node {
	if d.used.answers == nil {
		d.used.answers = map[*contract.Operation]*yaml.Node{}
	}
	if d.used.answers[op] == nil {
		schema := d.form.schema(body, answered)
		if op.StatusOf != nil {
			schema = d.statusSchema(op)
		}
		d.used.answers[op] = d.schemas.add(op.Model.Name+"Response", schema)
	}
	return d.used.answers[op]
}

func (d *document) declaredHeaders(a contract.Answer) []entry {
	var out []entry
	for _, name := range a.Headers {
		schema := object(entry{"type", text("string")})
		if name == "Location" {
			schema = object(entry{"type", text("string")}, entry{"format", text("uri-reference")})
		}
		out = append(out, entry{name, object(entry{"schema", schema})})
	}
	return out
}

// ownHeaders are those of the runtime.
func (d *document) ownHeaders(op *contract.Operation, answer bool, problems []contract.Problem) []entry {
	var out []entry
	add := func(name string) { out = append(out, entry{name, ref("headers", name)}) }
	key := op.Model.Key
	if key.From == "header" {
		add(d.keyHeader())
	}
	if key.Protects() && (answer || slices.ContainsFunc(problems, func(p contract.Problem) bool { return !isRefusedUnread(p.Status) })) {
		add(d.toldHeader())
	}
	if len(problems) > 0 {
		add(headerShouldRetry)
	}
	if slices.ContainsFunc(problems, func(p contract.Problem) bool { return p.Retryable && p.Status != http.StatusInternalServerError }) {
		add(headerRetryAfter)
	}
	return out
}

// isRefusedUnread: requests that are refused so have not come as far as the key.
func isRefusedUnread(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

func (d *document) gateway() bool { return d.svc.Profile == "gateway" }

func (d *document) keyHeader() string {
	if d.gateway() {
		return gatewayKeyHeader
	}
	return keyHeader
}

func (d *document) toldHeader() string {
	if d.gateway() {
		return gatewayStatus
	}
	return replayedHeader
}

// The headers that the runtime reads and sends.
const (
	keyHeader         = "Idempotency-Key"
	replayedHeader    = "Idempotent-Replayed"
	gatewayKeyHeader  = "X-Idempotency-Key"
	gatewayStatus     = "X-Idempotency-Status"
	headerShouldRetry = "X-Should-Retry"
	headerRetryAfter  = "Retry-After"
	headerForce       = "X-Force-Retry"
)

// keyParameter is the component of the key's header, "" where the operation
// reads none.
func (d *document) keyParameter(m *model.Operation) string {
	if m.Key.From != "header" {
		return ""
	}
	if m.Key.Required {
		d.used.requiredKey = true
		return paramKey
	}
	d.used.optionalKey = true
	return paramOptionalKey
}
