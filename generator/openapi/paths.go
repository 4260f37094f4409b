package openapi

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// paths are the operations by path, the paths sorted, methods in a fixed order.
func (d *document) paths(ops []*contract.Operation) *yaml.Node {
	byPath := map[string][]*contract.Operation{}
	var all []string
	for _, op := range withStatuses(ops) {
		if byPath[op.Path] == nil {
			all = append(all, op.Path)
		}
		byPath[op.Path] = append(byPath[op.Path], op)
	}
	slices.Sort(all)
	items := make([]entry, len(all))
	for i, path := range all {
		at := byPath[path]
		slices.SortStableFunc(at, func(a, b *contract.Operation) int {
			return methodRank(a.Model.Method) - methodRank(b.Model.Method)
		})
		methods := make([]entry, len(at))
		for j, op := range at {
			methods[j] = entry{strings.ToLower(op.Model.Method), d.operation(op)}
		}
		items[i] = entry{path, object(methods...)}
	}
	if n := object(items...); n != nil {
		return n
	}
	return emptyObject()
}

func methodRank(method string) int {
	return slices.Index([]string{"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"}, method)
}

func (d *document) operation(op *contract.Operation) *yaml.Node {
	m := op.Model
	return object(
		entry{"operationId", text(m.Name)},
		entry{"summary", optional(m.Summary)},
		entry{"description", optional(description(m))},
		entry{"tags", texts(m.Tags)},
		entry{"parameters", list(d.parameters(op))},
		entry{"requestBody", d.requestBody(op)},
		entry{"responses", d.responses(op)},
		entry{"x-idempotency", d.idempotency(m)},
	)
}

// description is left out where the summary says all of it.
func description(m *model.Operation) string {
	whole := strings.Join(strings.Fields(m.Description), " ")
	if whole == m.Summary {
		return ""
	}
	return strings.TrimSpace(m.Description)
}

func (d *document) parameters(op *contract.Operation) []*yaml.Node {
	var out []*yaml.Node
	for _, p := range op.Params {
		schema := d.form.schema(&p.Node, asked)
		var explode, content *yaml.Node
		if p.Type.Array {
			explode = boolean(p.In == model.FromQuery)
		}
		if p.Type.Kind == model.KindJSON && !p.Type.Array {
			content, schema = object(entry{mediaJSON, object(entry{"schema", schema})}), nil
		}
		out = append(out, object(
			entry{"name", text(p.Wire)},
			entry{"in", text(string(p.In))},
			entry{"required", trueOnly(p.Required)},
			entry{"explode", explode},
			entry{"schema", schema},
			entry{"content", content},
		))
	}
	if name := d.keyParameter(op.Model); name != "" {
		out = append(out, ref("parameters", name))
	}
	if op.Model.Policy.ForceRetry {
		d.used.force = true
		out = append(out, ref("parameters", paramForce))
	}
	return out
}

// The media types of bodies.
const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	mediaBytes   = "application/octet-stream"
)

func (d *document) requestBody(op *contract.Operation) *yaml.Node {
	if op.Body == nil {
		return nil
	}
	media, schema := mediaJSON, d.form.schema(op.Body, asked)
	if op.Model.BodyWhole && op.Body.Type.Kind == model.KindBytea {
		media, schema = mediaBytes, nil
	}
	if schema != nil {
		schema = d.schemas.add(op.Model.Name+"Request", schema)
	}
	var example *yaml.Node
	if d.opts.Example != nil && media == mediaJSON {
		example = fromJSON(d.opts.Example(op.Model))
	}
	content := object(entry{"schema", schema}, entry{"example", example})
	if content == nil {
		content = emptyObject()
	}
	return object(entry{"required", trueOnly(op.BodyRequired)}, entry{"content", object(entry{media, content})})
}

// responses are the answers and the problems, by status.
func (d *document) responses(op *contract.Operation) *yaml.Node {
	var statuses []int
	for _, a := range op.Answers {
		statuses = append(statuses, a.Status)
	}
	for _, p := range op.Problems {
		statuses = append(statuses, p.Status)
	}
	slices.Sort(statuses)
	var out []entry
	for _, status := range slices.Compact(statuses) {
		out = append(out, entry{strconv.Itoa(status), d.response(op, status)})
	}
	return object(append(out, entry{"default", d.otherProblem()})...)
}
