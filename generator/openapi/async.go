package openapi

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
)

// withStatuses are the operations with those that tell the status of async ones,
// each behind its own.
func withStatuses(ops []*contract.Operation) []*contract.Operation {
	var out []*contract.Operation
	for _, op := range ops {
		out = append(out, op)
		if op.Status != nil {
			out = append(out, op.Status)
		}
	}
	return out
}

// asyncStates are idem.AsyncState.
var asyncStates = []string{"queued", "running", "done", "failed"}

// statusSchema is how an async operation stands, with what was recorded.
func (d *document) statusSchema(op *contract.Operation) *yaml.Node {
	event := object(entry{"type", text("string")}, entry{"format", text("uuid")})
	at := object(entry{"type", text("string")}, entry{"format", text("date-time")})
	return object(
		entry{"type", text("object")},
		entry{"required", texts([]string{contract.EventID, "status", "created_at"})},
		entry{"properties", object(
			entry{contract.EventID, event},
			entry{"status", object(entry{"type", text("string")}, entry{"enum", texts(asyncStates)})},
			entry{"created_at", at},
			entry{"response", d.recordedSchema(op.StatusOf)},
		)},
	)
}

// recordedSchema is the recorded response of an async operation.
func (d *document) recordedSchema(async *contract.Operation) *yaml.Node {
	var names []entry
	for _, name := range recordedHeaders(async) {
		names = append(names, entry{name, object(entry{"type", text("string")})})
	}
	headers := object(
		entry{"type", text("object")},
		entry{"properties", object(names...)},
		entry{"additionalProperties", object(entry{"type", text("string")})},
	)
	return object(
		entry{"type", text("object")},
		entry{"description", text("What was recorded: with `done` a success, with `failed` a problem. Absent before.")},
		entry{"required", texts([]string{"status"})},
		entry{"properties", object(
			entry{"status", object(entry{"type", text("integer")})},
			entry{"headers", headers},
			entry{"body", d.recordedBody(async)},
		)},
	)
}

// recordedHeaders are those that a record can have.
func recordedHeaders(async *contract.Operation) []string {
	names := []string{"Content-Type"}
	for _, a := range async.Outcome.Answers {
		names = append(names, a.Headers...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recordedBody is what a success or a refusal has for a body; nil where nothing
// is recorded of it.
func (d *document) recordedBody(async *contract.Operation) *yaml.Node {
	if !async.Model.Policy.RecordBody {
		return nil
	}
	d.used.problems = true
	problem := schemaProblem
	if d.gateway() {
		problem = schemaGateway
	}
	forms := []*yaml.Node{ref("schemas", problem)}
	var null bool
	for _, a := range async.Outcome.Answers {
		null = null || a.Null
		if a.Body != nil && len(forms) == 1 {
			name := async.Model.Name + "Outcome"
			forms = append([]*yaml.Node{d.schemas.add(name, d.form.schema(a.Body, answered))}, forms...)
		}
	}
	if null {
		forms = append(forms, object(entry{"type", text(typeNull)}))
	}
	if len(forms) == 1 {
		return forms[0]
	}
	return object(entry{"anyOf", list(forms)})
}

// statusSays describes the status with what the operation can fail with.
func statusSays(op *contract.Operation) string {
	said := "How the request stands. `queued`: nobody works at it. `running`: somebody does, or an operator has to decide. " +
		"`done`: its success was recorded. `failed`: a problem was."
	if failures := op.StatusOf.Outcome.Problems; len(failures) > 0 {
		said += " The problems that it can fail with:\n\n" + problemsSay(failures)
	}
	return said
}
