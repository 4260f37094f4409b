package render

import (
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

const idemPath = "github.com/idemgen/idemgen/idem"

// operationView is what templates/emit/operation.go.tmpl prints.
type operationView struct {
	GoName         string
	QuotedName     string
	Method, Path   string
	SQLVar         string
	SQLFile        string
	DescriptorFunc string
	Descriptor     string
	Input          structView
	InputTypes     []structView
	Output         structView
	OutputTypes    []structView
	DocLines       []string
	Keyed          bool
	KeyOptional    bool
	Async, Durable bool
	ToolFile       string
	ToolVar        string // "" where agents can't call it
	KeyDelivery    string // what keys of a webhook begin with, "" for other operations
	KeyMessage     bool   // the key is a message's id
}

func descriptorFunc(op *model.Operation) string { return lowerFirst(exportedName(op)) + "Operation" }

func sqlVar(op *model.Operation) string { return lowerFirst(exportedName(op)) + "SQL" }

func newOperationView(svc *model.Service, op *plan.Operation, im *imports) (operationView, error) {
	m := op.Model
	im.add("context", idemPath)
	im.blank("embed")
	literal, err := descriptor(svc, op, sqlVar(m))
	if err != nil {
		return operationView{}, err
	}
	if strings.Contains(literal, "time.") {
		im.add("time")
	}
	name := exportedName(m)
	input, values := inputTree(m, im)
	output, err := outputTree(svc, m, im)
	if err != nil {
		return operationView{}, err
	}
	inputs, outputs := input.structs(name+"Input", ""), output.structs(name+"Output", "")
	inputs[0].Values = values
	view := operationView{
		GoName: name, QuotedName: strconv.Quote(m.Name),
		Method: m.Method, Path: m.Path,
		SQLVar: sqlVar(m), SQLFile: m.FileBase + ".sql",
		DescriptorFunc: descriptorFunc(m), Descriptor: literal,
		Input: inputs[0], InputTypes: inputs[1:],
		Output: outputs[0], OutputTypes: outputs[1:],
		DocLines:    docLines(m.Description),
		Keyed:       m.Key.Protects(),
		KeyOptional: m.Key.From == "header" && !m.Key.Required,
		Async:       m.Async, Durable: m.Durable(),
	}
	view.KeyMessage = m.Key.From == "message"
	if m.Tool != nil {
		view.ToolVar, view.ToolFile = toolVar(m), toolFile(m)
	}
	if m.Webhook != nil {
		view.KeyDelivery = "webhook-" + m.Webhook.System + "-"
	}
	return view, nil
}

// names are the package-level identifiers that the operation takes.
func (v operationView) names() []string {
	out := []string{v.GoName, v.SQLVar, v.DescriptorFunc, v.Input.Name, v.Output.Name}
	if v.ToolVar != "" {
		out = append(out, v.ToolVar)
	}
	for _, types := range [][]structView{v.InputTypes, v.OutputTypes} {
		for _, t := range types {
			out = append(out, t.Name)
		}
	}
	return out
}

// methods are the methods of Service that the operation takes.
func (v operationView) methods() []string {
	if v.Async {
		return []string{v.GoName, v.GoName + "Status"}
	}
	return []string{v.GoName}
}

// docLines is a description as the lines of a doc comment's paragraph.
func docLines(description string) []string {
	description = strings.TrimSpace(description)
	if description == "" {
		return nil
	}
	lines := []string{""}
	for line := range strings.Lines(description) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}
