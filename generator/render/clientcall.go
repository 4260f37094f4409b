package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// clientOperation is what templates/emit/client_operation.go.tmpl prints.
type clientOperation struct {
	GoName, QuotedName string
	Method, Path       string // quoted
	Route              string
	DocLines           []string
	Codes              string // of its own problems, as a sentence; "" for none
	Types              []clientType
	Input              string // type; "" where it takes nothing
	Output             string // type; "" where it answers nothing
	MayBeNull          bool
	Redirects, Returns bool     // as core.Call has them
	Values             []string // of the path
	Query, Header      []string // statements
	Body               string   // expression; "" for none
	Keyed              bool
	Pages              *clientPages
	Async              *clientAsync
}

// operation writes the file of one operation.
func (c *clientEmitter) operation(op *contract.Operation, planned *plan.Operation) {
	m := op.Model
	im := newImports(c.svc.ModulePath, clientNames)
	im.add("context")
	im.byPath[clientPath] = importName{name: "core", explicit: true}
	view := clientOperation{
		GoName: exportedName(m), QuotedName: text(m.Name), Method: text(m.Method), Path: text(op.Path), Route: m.Method + " " + op.Path,
		DocLines: docLines(m.Description), Keyed: m.Key.From == "header",
	}
	if isBytesBody(op) {
		return // client.go says so
	}
	c.input(op, &view, im)
	if op.Outcome != nil {
		c.async(op, &view, im)
	} else {
		c.output(op.Answers, &view, im)
	}
	view.Redirects = slices.ContainsFunc(op.Answers, func(a contract.Answer) bool { return a.Status >= 300 && a.Status < 400 })
	view.Returns = view.Output != "" && !view.MayBeNull && m.Method != "HEAD"
	view.Codes = codesOf(op)
	view.Pages = c.pages(op, planned, &view, im)
	base := m.FileBase
	for c.files[base] {
		base += "_op"
	}
	c.files[base] = true
	c.goFile(base+".go", "", "client_operation.go.tmpl", view, im, "")
}

func isBytesBody(op *contract.Operation) bool {
	return op.Model.BodyWhole && op.Body != nil && op.Body.Type.Kind == model.KindBytea
}

func (c *clientEmitter) input(op *contract.Operation, view *clientOperation, im *imports) {
	if len(op.Params) == 0 && op.Body == nil {
		return
	}
	w := &typeWriter{c: c, im: im, asked: true, bigint: c.svc.JSON.BigintString}
	root := &contract.Node{Form: contract.FormObject}
	switch {
	case op.Body == nil:
	case op.Model.BodyWhole:
		body := *op.Body
		body.Name, body.GoName, body.Required = "", "Body", op.BodyRequired
		root.Members = []*contract.Node{&body}
		view.Body = "in.Body"
	default:
		root.Members = op.Body.Members
		view.Body = "in"
	}
	view.Input = w.object(root, view.GoName+"Input", "what "+view.GoName+" takes", op.Params)
	view.Types = append(view.Types, w.out...)
	if slices.ContainsFunc(w.out, func(t clientType) bool { return strings.Contains(strings.Join(t.Micro, "\n"), "slices.") }) {
		im.add("slices")
	}
	for _, p := range op.Params {
		c.send(p, view, im)
	}
	if len(view.Query) > 0 {
		im.add("net/url")
	}
	if len(view.Header) > 0 {
		im.add("net/http")
	}
}

func (c *clientEmitter) output(answers []contract.Answer, view *clientOperation, im *imports) {
	i := slices.IndexFunc(answers, func(a contract.Answer) bool { return a.Body != nil && a.Status < 400 })
	if i < 0 {
		return
	}
	w := &typeWriter{c: c, im: im, bigint: c.svc.JSON.BigintString}
	view.Output = w.of(answers[i].Body, view.GoName+"Output", "what "+view.GoName+" answers")
	view.Types = append(view.Types, w.out...)
	view.MayBeNull = slices.ContainsFunc(answers, func(a contract.Answer) bool {
		return a.Null || (a.Body == nil || a.Body.Nullable) && a.Status < 400 && !a.Running
	})
}

// send adds what puts a parameter into the request.
func (c *clientEmitter) send(p *contract.Param, view *clientOperation, im *imports) {
	field := "in." + p.GoName
	if p.In == model.FromPath {
		view.Values = append(view.Values, c.written(p.Type, field, im))
		return
	}
	set := func(call, value string) string { return fmt.Sprintf("%s(%s, %s)", call, text(p.Wire), value) }
	add, put := "query.Add", "query.Set"
	into := &view.Query
	if p.In == model.FromHeader {
		add, put, into = "header.Add", "header.Set", &view.Header
	}
	var statement string
	switch {
	case p.Type.Array:
		single := p.Type
		single.Array = false
		statement = "for _, v := range " + field + " {\n\t" + set(add, c.written(single, "v", im)) + "\n}"
	case p.Type.Kind == model.KindJSON || p.Type.Kind == model.KindBytea:
		statement = "if " + field + " != nil {\n\t" + set(put, c.written(p.Type, field, im)) + "\n}"
	case p.Required && !p.Nullable:
		statement = set(put, c.written(p.Type, field, im))
	default:
		statement = "if v := " + field + "; v != nil {\n\t" + set(put, c.written(p.Type, "*v", im)) + "\n}"
	}
	*into = append(*into, statement)
}

// written is the expression of a value's text outside of JSON.
func (c *clientEmitter) written(t model.Type, value string, im *imports) string {
	switch t.Kind {
	case model.KindBool:
		im.add("strconv")
		return "strconv.FormatBool(" + value + ")"
	case model.KindInt2, model.KindInt4, model.KindInt8:
		im.add("strconv")
		if t.Kind != model.KindInt8 {
			value = "int64(" + value + ")"
		}
		return "strconv.FormatInt(" + value + ", 10)"
	case model.KindFloat4, model.KindFloat8:
		return paren(value) + ".String()"
	case model.KindTimestamptz:
		im.add("time")
		return paren(value) + ".UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)"
	case model.KindBytea:
		im.add("encoding/base64")
		return "base64.StdEncoding.EncodeToString(" + value + ")"
	case model.KindJSON:
		return "string(" + value + ")"
	}
	return value
}

func paren(value string) string {
	if strings.HasPrefix(value, "*") {
		return strings.TrimPrefix(value, "*") // methods reach through a pointer
	}
	return value
}

// codesOf lists the problems that are the operation's own.
func codesOf(op *contract.Operation) string {
	var parts []string
	for _, p := range append(slices.Clone(op.Problems), laterProblems(op)...) {
		if p.Declared && !slices.Contains(parts, strconv.Itoa(p.Status)+" "+p.Code) {
			parts = append(parts, strconv.Itoa(p.Status)+" "+p.Code)
		}
	}
	return strings.Join(parts, ", ")
}
