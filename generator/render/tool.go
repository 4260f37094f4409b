package render

import (
	"path"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/openapi"
	"github.com/idemgen/idemgen/generator/plan"
)

// toolView is what templates/emit/tool.json.tmpl prints.
type toolView struct{ Definition string }

func toolVar(op *model.Operation) string { return lowerFirst(exportedName(op)) + "Tool" }

func toolFile(op *model.Operation) string { return op.FileBase + ".json" }

// tool adds the definition of an operation that agents call.
func (e *emitter) tool(op *model.Operation) error {
	if op.Tool == nil {
		return nil
	}
	definition, err := openapi.Tool(e.svc, op)
	if err != nil {
		return err
	}
	e.pending = append(e.pending, pending{path: path.Join(e.out, "tools", toolFile(op)), tmpl: "tool.json.tmpl", view: toolView{string(definition)}})
	return nil
}

// toolSpec writes what makes an operation a tool, "" where it is none.
func toolSpec(op *model.Operation) string {
	if op.Tool == nil {
		return ""
	}
	return object("idem.ToolSpec", member{"Definition", toolVar(op)}, member{"KeyArgument", boolean(op.Tool.KeyArgument)})
}

// httpMethod and httpPath are the route of an operation, "" where it is a tool alone.
func httpMethod(op *model.Operation) string {
	if op.OnlyTool() {
		return ""
	}
	return op.Method
}

func httpPath(op *model.Operation) string {
	if op.OnlyTool() {
		return ""
	}
	return op.Path
}

// apart reports whether an operation is not for requests of clients.
func apart(op *plan.Operation) bool { return isDelivered(op) || op.Model.OnlyTool() }
