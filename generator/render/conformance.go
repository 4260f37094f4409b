package render

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/templates"
)

const (
	conformanceFile = "conformance_test.go"
	idemtestPath    = idemPath + "/idemtest"
)

// Conformance renders the test that runs the conformance kit on every operation;
// no file where none has a key. Out and migrations are relative to
// the folder of idemgen.yaml.
func Conformance(out, migrations string, svc *model.Service, ops []*plan.Operation) ([]files.File, error) {
	all := ops
	ops = slices.DeleteFunc(slices.Clone(all), apart) // the kit sends requests, and has no system to sign with
	view := conformanceView{
		Package: svc.Package, Profile: svc.Profile, OneScope: svc.ScopeSource.Kind == model.SourceNone,
		Seals: slices.ContainsFunc(ops, func(op *plan.Operation) bool { return op.Model.Policy.Sealed }),
	}
	if !slices.ContainsFunc(ops, func(op *plan.Operation) bool { return op.Model.Key.Protects() }) {
		return nil, nil
	}
	if funcs, _ := goUses(all); len(funcs) > 0 {
		view.Funcs = true
	}
	view.Durable = slices.ContainsFunc(ops, func(op *plan.Operation) bool { return op.Model.Durable() })
	view.Webhooks = conformanceVerifiers(all)
	items := make([]string, len(ops))
	for i, op := range ops {
		items[i] = conformanceOperation(op.Model)
	}
	folder, err := filepath.Rel(filepath.FromSlash(out), filepath.FromSlash(migrations))
	if err != nil {
		return nil, fmt.Errorf("the migrations %s from %s: %w", migrations, out, err)
	}
	set, err := template.ParseFS(templates.FS, "emit/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	view.Migrations, view.Caller = filepath.ToSlash(folder), conformanceCaller(svc)
	im := newImports(svc.ModulePath, packageNames)
	im.add("context", "log/slog", "net/http", "testing", "time",
		"github.com/go-chi/chi/v5", "github.com/jackc/pgx/v5/pgxpool", idemPath, idemtestPath)
	e := &emitter{out: out, svc: svc, templates: set}
	e.goFile(conformanceFile, "", conformanceFile+".tmpl", view, im, list("idemtest.Operation", items))
	return e.render()
}

// conformanceView is what templates/emit/conformance_test.go.tmpl prints.
type conformanceView struct {
	Package    string
	Migrations string
	Profile    string
	OneScope   bool
	Seals      bool
	Funcs      bool // some operations have Go steps
	Durable    bool // some operations have calls or are async
	Webhooks   string
	Caller     []string
}

// conformanceVerifiers writes verifiers that refuse everything, "" where there are no
// webhooks.
func conformanceVerifiers(ops []*plan.Operation) string {
	const refuse = "idem.VerifierFunc(func(*http.Request, []byte) (idem.Delivery, error) { return idem.Delivery{}, http.ErrNotSupported })"
	var systems []string
	for _, op := range ops {
		if isWebhook(op) {
			systems = append(systems, op.Model.Webhook.System)
		}
	}
	slices.Sort(systems)
	items := make([]string, 0, len(systems))
	for _, system := range slices.Compact(systems) {
		items = append(items, strconv.Quote(system)+": "+refuse)
	}
	if len(items) == 0 {
		return ""
	}
	return "map[string]idem.Verifier{" + strings.Join(items, ", ") + "}"
}

// conformanceOperation writes an idemtest.Operation literal.
func conformanceOperation(op *model.Operation) string {
	example := exampleBody(op)
	return object("",
		member{"Name", text(exportedName(op))},
		member{"Method", text(op.Method)},
		member{"Path", text(op.Path)},
		member{"Body", raw(encoded(example))},
		member{"Key", conformanceKey(op)},
		member{"Inputs", list("idemtest.Input", conformanceInputs(op, example))},
		member{"Writes", writtenTables(op)},
		member{"Intent", boolean(slices.ContainsFunc(op.Steps, func(s *model.Step) bool { return s.Intent != nil }))},
		member{"Returns", boolean(slices.ContainsFunc(op.Steps, func(s *model.Step) bool { return s.Intent != nil && s.OnIntent == "return" }))},
		member{"Rejects", boolean(op.Key.Protects() && op.Policy.Wait <= 0)},
		member{"Tombstone", boolean(op.Key.Protects() && !op.Policy.RecordBody)},
		member{"Forces", boolean(op.Policy.ForceRetry)},
		member{"Sealed", boolean(op.Policy.Sealed)},
		member{"Async", boolean(op.Async)},
		member{"Calls", boolean(op.Calls() > 0)},
		member{"Kept", conformanceKept(op)},
	)
}

// conformanceKept writes how long records are kept. A client error is kept so
// long, at least, that a late first attempt finds it.
func conformanceKept(op *model.Operation) string {
	if !op.Key.Protects() {
		return ""
	}
	return object("idemtest.Kept",
		member{"Success", duration(op.Policy.Success)},
		member{"ClientError", duration(max(op.Policy.ClientError, 2*op.Policy.Timeout))},
		member{"ServerError", duration(op.Policy.ServerError)},
	)
}

// conformanceKey leaves the usual rule out.
func conformanceKey(op *model.Operation) string {
	switch {
	case !op.Key.Protects():
		return "idemtest.KeyNone"
	case op.Key.From != "header":
		return "idemtest.KeyDerived"
	case !op.Key.Required:
		return "idemtest.KeyOptional"
	}
	return ""
}

// writtenTables are the tables whose changes are the operation's effects. The
// outbox is one of them, and the last, where every execution writes events.
func writtenTables(op *model.Operation) string {
	var names []string
	var events []model.Event
	for _, step := range op.Steps {
		events = append(events, step.Events...)
		for _, table := range step.Query.Shape.Writes {
			names = append(names, qualified(table))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(events) > 0 && !slices.ContainsFunc(events, func(e model.Event) bool { return e.If != "" }) {
		names = append(names, "idem.outbox")
	}
	return list("string", texts(names))
}

// exampleBody is the @example, or a body made of the required inputs; nil for
// none.
func exampleBody(op *model.Operation) any {
	var body any
	if op.Example != "" {
		decoder := json.NewDecoder(strings.NewReader(op.Example))
		decoder.UseNumber()
		_ = decoder.Decode(&body) // check has read it
		return body
	}
	for _, in := range op.Inputs {
		if in.From != model.FromBody {
			continue
		}
		value, ok := sample(in.Type, 0)
		switch {
		case op.BodyWhole:
			return value
		case body == nil:
			body = map[string]any{}
		}
		if in.Required && ok {
			setMember(body.(map[string]any), in.Name, value)
		}
	}
	return body
}

func setMember(object map[string]any, name string, value any) {
	parts := strings.Split(name, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := object[part].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[part] = next
		}
		object = next
	}
	object[parts[len(parts)-1]] = value
}

// memberOf is the value at a dotted name, nil if there is none.
func memberOf(body any, name string) any {
	for part := range strings.SplitSeq(name, ".") {
		object, _ := body.(map[string]any)
		body = object[part]
	}
	return body
}

// encoded is a value as JSON, "" for none.
func encoded(value any) string {
	if value == nil {
		return ""
	}
	out, err := json.Marshal(value)
	if err != nil {
		return "" // samples and what was decoded can be encoded
	}
	return string(out)
}

// raw writes a string literal in which quotes are easy to read.
func raw(s string) string {
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return text(s)
}

// conformanceCaller writes an idemtest.CallerField per field of the caller.
func conformanceCaller(svc *model.Service) []string {
	var fields []string
	for _, c := range svc.Caller {
		a, b := "caller-a", "caller-b"
		if c.Type.Kind != model.KindText || len(c.Type.Enum) > 0 || len(c.Type.Checks) > 0 {
			first, _ := sample(c.Type, 0)
			second, ok := sample(c.Type, 1)
			if !ok {
				second = first
			}
			a, b = plainText(first), plainText(second)
		}
		fields = append(fields, fmt.Sprintf("idemtest.CallerField{Into: &c.%s, Type: %q, A: %q, B: %q}",
			c.GoName, scanTypes[c.Type.Kind], a, b))
	}
	return fields
}

// scanTypes are the names by which pgx knows the types of a caller's fields.
var scanTypes = map[model.Kind]string{
	model.KindBool: "bool", model.KindInt2: "int2", model.KindInt4: "int4", model.KindInt8: "int8",
	model.KindNumeric: "numeric", model.KindFloat4: "float4", model.KindFloat8: "float8", model.KindText: "text",
	model.KindUUID: "uuid", model.KindTimestamptz: "timestamptz", model.KindTimestamp: "timestamp",
	model.KindDate: "date", model.KindTime: "time", model.KindInterval: "interval", model.KindBytea: "bytea",
	model.KindJSON: "jsonb", model.KindRecord: "jsonb",
}

// plainText is a sample as it stands in a path, a query or a header.
func plainText(value any) string {
	if values, ok := value.([]any); ok {
		value = values[0]
	}
	switch v := value.(type) {
	case nil:
		return ""
	case map[string]any:
		return encoded(v)
	}
	return fmt.Sprint(value)
}
