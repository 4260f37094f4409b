package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// emitted are the names that the emitted package and its Service have already.
var emitted = []string{"Service", "Options", "New", "Caller", "Mount", "Handler", "Run", "Ready", "StatusHandler", "Call", "Operation", "Operations", "Funcs"}

var operationName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)

// operationNames refuses names that meet each other or emitted code.
func (c *checker) operationNames() {
	names, files := map[string]*model.Operation{}, map[string]*model.Operation{}
	for _, op := range c.svc.Operations {
		switch other := names[op.Name]; {
		case other != nil:
			c.diags.Errorf(diag.RouteConflict, op.Pos, "two operations are named %s; the other is at %s", op.Name, other.Pos).
				Hint("name one of them with @operation")
			continue
		case files[op.FileBase] != nil:
			c.diags.Errorf(diag.NameCollision, op.Pos, "%s and %s have the same file name %s.go", files[op.FileBase].Name, op.Name, op.FileBase).
				Hint("name one of them with @operation")
		case slices.Contains(emitted, op.Name):
			c.diags.Errorf(diag.NameCollision, op.Pos, "an operation named %s collides with emitted code", op.Name).
				Hint("name it with @operation, for example @operation %sOperation", op.Name)
		case !operationName.MatchString(op.Name):
			c.diags.Errorf(diag.NameCollision, op.Pos, "%q is not an exported Go name", op.Name).
				Hint("write @operation %s", goName(op.Name))
		}
		names[op.Name], files[op.FileBase] = op, op
	}
	for _, op := range c.svc.Operations {
		c.typeNames(op, names)
	}
}

// typeNames refuses CreateInput beside Create: its input struct has that name.
func (c *checker) typeNames(op *model.Operation, names map[string]*model.Operation) {
	if base := strings.TrimSuffix(op.Name, "Status"); base != op.Name && names[base] != nil && names[base].Async {
		c.diags.Errorf(diag.NameCollision, op.Pos, "the name %s is that of the status method of operation %s", op.Name, base).
			Hint("name one of them with @operation")
	}
	for _, suffix := range []string{"Input", "Output"} {
		if i := strings.Index(op.Name, suffix); i > 0 && names[op.Name[:i]] != nil {
			c.diags.Errorf(diag.NameCollision, op.Pos, "the name %s is that of a type of operation %s", op.Name, op.Name[:i]).
				Hint("name one of them with @operation")
		}
	}
}
