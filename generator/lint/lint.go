// Package lint finds risks in a service that generates: what is allowed, but
// ends badly often enough to be asked about. It reads no files and no database.
package lint

import (
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// Check adds a warning for each risk of each operation. An operation that is
// allowed to have one is passed over.
func Check(svc *model.Service, cat *schema.Catalog, allow Allowed, diags *diag.List) {
	c := &checker{svc: svc, cat: cat, allow: allow, diags: diags}
	for _, op := range svc.Operations {
		c.inserts(op)
		c.intents(op)
		c.key(op)
		c.locks(op)
		c.sessions(op)
		c.lists(op)
		c.secrets(op)
	}
	c.crossings()
}

// Allowed is which risks are taken, by code: the operations that may have it.
// An empty list stands for all of them.
type Allowed map[diag.Code][]string

// Has reports whether an operation may have a risk.
func (a Allowed) Has(code diag.Code, operation string) bool {
	names, ok := a[code]
	if !ok || len(names) == 0 {
		return ok
	}
	for _, n := range names {
		if n == operation {
			return true
		}
	}
	return false
}

type checker struct {
	svc    *model.Service
	cat    *schema.Catalog
	allow  Allowed
	diags  *diag.List
	orders []order
}

// warn adds a warning about an operation, with the way out.
func (c *checker) warn(op *model.Operation, code diag.Code, pos diag.Pos, message, hint string) {
	if !c.allow.Has(code, op.Name) {
		c.diags.Warnf(code, pos, "%s: %s", op.Name, message).Hint("%s", hint)
	}
}

// statements are the steps that run SQL.
func statements(op *model.Operation) []*model.Step {
	var out []*model.Step
	for _, s := range op.Steps {
		if s.Go == nil && s.Query != nil {
			out = append(out, s)
		}
	}
	return out
}

func isRead(op *model.Operation) bool { return op.Method == "GET" || op.Method == "HEAD" }
