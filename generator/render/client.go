package render

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/templates"
)

const clientPath = "github.com/idemgen/idemgen/idem/client"

// clientNames are the identifiers of the emitted client.go.
var clientNames = []string{
	"Client", "New", "Options", "Option", "Problem", "FieldError", "Error", "Meta", "Optional", "Some", "CodeOf", "Decode", "Float",
	"WithKey", "WithHeader", "WithMeta", "WithMaxTries", "WithForceRetry", "core",
	"Accepted", "AsyncState", "AsyncStatus", "AsyncQueued", "AsyncRunning", "AsyncDone", "AsyncFailed", "ErrUnfinished",
}

// Client renders the typed client of a service: a package of its own in folder,
// which imports the standard library and idem/client alone. One file per
// operation, client.go and codes.go.
func Client(folder string, svc *model.Service, ops []*plan.Operation) ([]files.File, error) {
	set, err := template.ParseFS(templates.FS, "emit/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	own := *svc
	own.Package = path.Base(folder)
	c := &clientEmitter{
		emitter: emitter{out: folder, svc: &own, templates: set},
		types:   nameSet{}, methodNames: nameSet{}, files: nameSet{"client": true, "codes": true, "doc": true},
	}
	for _, name := range clientNames {
		c.types[name] = true
	}
	operations := contract.Of(svc, ops)
	for _, op := range operations {
		c.methodNames[exportedName(op.Model)] = true
	}
	c.codes(operations)
	for i, op := range operations {
		c.operation(op, ops[i])
	}
	c.client(operations)
	return c.render()
}

// clientEmitter collects the files of a client.
type clientEmitter struct {
	emitter
	types nameSet // package-level identifiers
	files nameSet
	// methodNames are the methods of the client.
	methodNames nameSet
	floats      bool // some value is real or double precision
}

// clientView is what templates/emit/client.go.tmpl prints.
type clientView struct {
	Profile string
	Floats  bool
	Force   bool
	Async   bool
}

var clientProfiles = map[string]string{"ietf": "core.IETF", "stripe": "core.Stripe", "gateway": "core.Gateway"}

func (c *clientEmitter) client(ops []*contract.Operation) {
	im := newImports(c.svc.ModulePath, clientNames)
	im.byPath[clientPath] = importName{name: "core", explicit: true}
	im.add("encoding/json")
	if c.floats {
		im.add("math", "strconv")
	}
	doc := fmt.Sprintf("// Package %s calls the operations of %s over HTTP. New makes a client. Every call of\n"+
		"// an operation that takes a key gets one, the same on all of its tries.\n", c.svc.Package, c.svc.Name)
	c.goFile("client.go", doc, "client.go.tmpl", clientView{
		Profile: clientProfiles[c.svc.Profile], Floats: c.floats,
		Force: slices.ContainsFunc(ops, func(op *contract.Operation) bool { return op.Model.Policy.ForceRetry }),
		Async: slices.ContainsFunc(ops, func(op *contract.Operation) bool { return op.Outcome != nil }),
	}, im, "")
}

// clientCode is one constant of codes.go.
type clientCode struct{ Name, Code, Doc string }

// codes writes a constant per code of a problem.
func (c *clientEmitter) codes(ops []*contract.Operation) {
	var all []contract.Problem
	for _, op := range ops {
		for _, p := range append(slices.Clone(op.Problems), laterProblems(op)...) {
			if !slices.ContainsFunc(all, func(known contract.Problem) bool { return known.Code == p.Code }) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b contract.Problem) int { return strings.Compare(a.Code, b.Code) })
	views := make([]clientCode, len(all))
	for i, p := range all {
		views[i] = clientCode{Name: c.types.take("Code" + goName(p.Code)), Code: text(p.Code), Doc: oneLine(p.Title)}
	}
	if len(views) > 0 && c.svc.Profile != "gateway" { // whose errors have no codes
		c.goFile("codes.go", "", "client_codes.go.tmpl", views, newImports(c.svc.ModulePath, nil), "")
	}
}
