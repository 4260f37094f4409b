package openapi

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// The schemas of the components that are no operation's own.
const (
	schemaProblem = "Problem"
	schemaField   = "FieldError"
	schemaGateway = "GatewayError"
)

// problemsSay lists the codes with their titles.
func problemsSay(problems []contract.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = "- `" + p.Code + "`: " + strings.Join(strings.Fields(p.Title), " ")
	}
	return strings.Join(lines, "\n")
}

// problemContent is a problem in the profile's form. That agents can have it as
// Markdown is said in words: as a further media type it would make every problem
// a string, or an object, for typed clients.
func (d *document) problemContent(op *contract.Operation, problems []contract.Problem) []entry {
	d.used.problems = true
	if d.gateway() {
		return []entry{{mediaJSON, object(
			entry{"schema", ref("schemas", schemaGateway)},
			entry{"examples", d.examples(problems, gatewayExample)},
		)}}
	}
	codes := make([]string, len(problems))
	for i, p := range problems {
		codes[i] = p.Code
	}
	enum := texts(codes)
	properties := []entry{
		{"status", object(entry{"const", integer(int64(problems[0].Status))})},
		{"code", object(entry{"enum", enum})},
	}
	for _, p := range problems {
		if p.Existing != nil {
			properties = append(properties, entry{"existing", d.existing(op, p.Existing)})
			break
		}
	}
	schema := object(entry{"allOf", list([]*yaml.Node{
		ref("schemas", schemaProblem), object(entry{"properties", object(properties...)}),
	})})
	return []entry{{mediaProblem, object(entry{"schema", schema}, entry{"examples", d.examples(problems, problemExample)})}}
}

// existing is the resource that a conflict shows: what a success answers, where
// that is one row.
func (d *document) existing(op *contract.Operation, row *contract.Node) *yaml.Node {
	m := op.Model
	if m.Response.Kind == model.ResponseStep && len(m.Steps) == 1 && d.svc.JSON.One == "" {
		return d.answerSchema(op, row)
	}
	return d.schemas.add(m.Name+"Existing", d.form.schema(row, answered))
}

// examples has one per code. Those of the runtime's own problems are written once.
func (d *document) examples(problems []contract.Problem, render func(contract.Problem) *yaml.Node) *yaml.Node {
	out := make([]entry, len(problems))
	for i, p := range problems {
		name := componentName(p.Code)
		value := object(entry{"value", render(p)})
		if !p.Declared {
			d.used.example(name, value)
			value = ref("examples", name)
		}
		out[i] = entry{name, value}
	}
	return object(out...)
}

// exampleInstance stands for the URN that names each occurrence.
const exampleInstance = "urn:uuid:5c2a1f6e-3b7d-4e0a-9c55-2f1f0f3f9b11"

func problemExample(p contract.Problem) *yaml.Node {
	var fields *yaml.Node
	if p.Code == "input-invalid" {
		fields = list([]*yaml.Node{object(
			entry{"pointer", text("/amount")}, entry{"code", text("required")}, entry{"detail", text("is required")},
		)})
	}
	return object(
		entry{"type", text("urn:idemgen:problem:" + p.Code)},
		entry{"title", text(p.Title)},
		entry{"status", integer(int64(p.Status))},
		entry{"detail", optional(p.Detail)},
		entry{"instance", text(exampleInstance)},
		entry{"code", text(p.Code)},
		entry{"retryable", boolean(p.Retryable)},
		entry{"errors", fields},
	)
}

func gatewayExample(p contract.Problem) *yaml.Node {
	message := p.Title
	if p.Detail != "" {
		message += ": " + p.Detail
	}
	return object(entry{"code", text(strconv.Itoa(p.Status))}, entry{"message", text(message)})
}

// otherProblem is what the service's own functions may answer beside.
func (d *document) otherProblem() *yaml.Node {
	d.used.problems = true
	d.used.other = true
	return ref("responses", responseOther)
}

const responseOther = "OtherProblem"

func (d *document) other() *yaml.Node {
	media, schema := mediaProblem, schemaProblem
	if d.gateway() {
		media, schema = mediaJSON, schemaGateway
	}
	return object(
		entry{"description", text("Another problem: of what stands before the operation, or of functions of the service.")},
		entry{"content", object(entry{media, object(entry{"schema", ref("schemas", schema)})})},
	)
}

func (d *document) problemSchemas() []entry {
	if d.gateway() {
		return []entry{{schemaGateway, object(
			entry{"type", text("object")},
			entry{"required", texts([]string{"code", "message"})},
			entry{"properties", object(
				entry{"code", described("string", "The status.")},
				entry{"message", described("string", "What is wrong, for people.")},
			)},
		)}}
	}
	field := object(
		entry{"type", text("object")},
		entry{"required", texts([]string{"pointer", "code", "detail"})},
		entry{"properties", object(
			entry{"pointer", described("string", "JSON pointer into the body (RFC 6901), or `path:NAME`, `query:NAME`, `header:NAME`.")},
			entry{"code", described("string", "What kind of rule does not hold, for programs.")},
			entry{"detail", described("string", "What is wrong with the field, for people.")},
		)},
	)
	return []entry{{schemaField, field}, {schemaProblem, d.problemSchema()}}
}

func (d *document) problemSchema() *yaml.Node {
	return object(
		entry{"type", text("object")},
		entry{"description", text("A problem (RFC 9457). `Accept: text/markdown` gets the same as Markdown.")},
		entry{"required", texts([]string{"type", "title", "status", "instance", "code", "retryable"})},
		entry{"properties", object(
			entry{"type", object(entry{"type", text("string")}, entry{"format", text("uri")})},
			entry{"title", described("string", "What is wrong, for people.")},
			entry{"status", described("integer", "The status of the answer.")},
			entry{"detail", described("string", "More about this occurrence, for people.")},
			entry{"instance", described("string", "Names this occurrence in the service's logs.")},
			entry{"code", described("string", "What is wrong, for programs: it stays the same.")},
			entry{"retryable", described("boolean", "The same request with the same key may be answered otherwise.")},
			entry{"idempotency_key", described("string", "The key of the request.")},
			entry{"errors", object(
				entry{"type", text("array")},
				entry{"description", text("One entry per field that was refused.")},
				entry{"items", ref("schemas", schemaField)},
			)},
		)},
	)
}

func described(typ, format string, args ...any) *yaml.Node {
	return object(entry{"type", text(typ)}, entry{"description", text(fmt.Sprintf(format, args...))})
}
