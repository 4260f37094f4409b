package generator

import (
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/openapi"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/render"
)

// emitOutside renders what is for those who call the service: the OpenAPI
// document and the typed client, where the configuration asks for them.
func (r *runner) emitOutside(svc *model.Service) error {
	ops := forClients(r.operations)
	if o := r.cfg.OpenAPI; o != nil {
		document, err := openapi.Document(openapi.Options{
			File: o.File, Title: o.Title, Version: o.Version, Servers: o.Servers, Security: o.Security, Example: render.Example,
		}, svc, ops)
		if err != nil {
			return err
		}
		r.emitted = append(r.emitted, document)
	}
	if r.cfg.Client == "" {
		return nil
	}
	emitted, err := render.Client(r.cfg.Client, svc, ops)
	r.emitted = append(r.emitted, emitted...)
	return err
}

// forClients are the operations that clients call over HTTP: webhooks and
// consumers are for other systems, and what is a tool alone has no route.
func forClients(all []*plan.Operation) []*plan.Operation {
	return slices.DeleteFunc(slices.Clone(all), func(op *plan.Operation) bool { return op.Model.Delivered() || op.Model.OnlyTool() })
}

// checkClient refuses a folder of the client that belongs to somebody else.
func (r *runner) checkClient() {
	folder := r.cfg.Client
	if folder == "" {
		return
	}
	pos := r.cfg.Place("client", folder)
	if err := r.tree.CheckFolder(folder); err != nil {
		r.diags.Errorf(diag.ConfigValue, pos, "nothing can be written to `client: %s`: %v", folder, err).
			Hint("choose a folder of its own inside the module, like client; or move what is there")
		return
	}
	if slices.Contains(strings.Split(folder, "/"), "vendor") {
		r.diags.Errorf(diag.ConfigValue, pos, "`client: %s` is in vendor, which `go mod vendor` clears", folder).Hint("choose a folder of its own, like client")
		return
	}
	out := r.cfg.Out
	taken := append(r.foreignFolders(), foreignFolder{out, "where the service's own package is emitted"}, foreignFolder{path.Join(out, "sql"), "where the emitted SQL is"},
		foreignFolder{path.Join(out, "tools"), "where the definitions of tools are"})
	for _, f := range taken {
		if f.path == folder {
			r.diags.Errorf(diag.ConfigValue, pos, "`client: %s` is the folder %s", folder, f.what).
				Hint("choose a folder of its own, like client")
			return
		}
	}
}
