package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

const funcsFile = "funcs.go"

// funcsView is what templates/emit/funcs.go.tmpl prints.
type funcsView struct {
	Funcs []funcView
	// Inside, Calls, Undos: there are such functions.
	Inside, Calls, Undos bool
	Codes                []codeView
	Fields               []targetView // structs that values are scanned into
	Types                []structView
}

// funcView is one function of Go steps.
type funcView struct {
	Name    string
	Doc     string
	Call    bool   // it calls another system
	Undo    bool   // it takes back the call that has Input and Output
	Queries string // Go expression of the type
	New     string // Go expression of its value over tx
	Input   string // type names
	Output  string // "" where it returns nothing
	Values  string // of the output, in the order of its fields
	Results string // pointers to these
}

// codeView is a declared code.
type codeView struct{ Name, Code, Doc string }

// targetView is a struct with the pointers to its fields.
type targetView struct {
	Receiver, Name, Method, Doc string
	Pointers                    string
}

// goUse is a Go step with its operation.
type goUse struct {
	op   *model.Operation
	step *model.Step
}

// goUses are the Go steps of a service by function, in order of name.
func goUses(ops []*plan.Operation) (names []string, uses map[string][]goUse) {
	uses = map[string][]goUse{}
	for _, op := range ops {
		for _, step := range op.Model.Steps {
			if step.Go != nil {
				uses[step.Go.Func] = append(uses[step.Go.Func], goUse{op.Model, step})
			}
		}
	}
	for name := range uses {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, uses
}

// funcs adds the file of the Go functions, where there are any.
func (e *emitter) funcs(ops []*plan.Operation) error {
	names, uses := goUses(ops)
	if len(names) == 0 {
		return nil
	}
	im := newImports(e.svc.ModulePath, append([]string{"Funcs"}, packageNames...))
	im.add("context", idemPath)
	view := &funcsView{}
	for _, name := range names {
		view.add(name, uses[name], im)
	}
	view.codes(names, uses)
	slices.SortStableFunc(view.Funcs, func(a, b funcView) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range view.Funcs {
		view.Inside = view.Inside || !f.Call && !f.Undo
		view.Calls = view.Calls || f.Call
		view.Undos = view.Undos || f.Undo
	}
	taken := []string{"Funcs"}
	for _, t := range view.Types {
		taken = append(taken, t.Name)
	}
	for _, c := range view.Codes {
		taken = append(taken, c.Name)
	}
	if err := e.reserve("the Go functions", taken, nil); err != nil {
		return err
	}
	e.goFile(funcsFile, "", funcsFile+".tmpl", view, im, "")
	return nil
}

func (v *funcsView) add(name string, uses []goUse, im *imports) {
	first := uses[0]
	f := funcView{Name: name, Doc: usesText(uses), Input: name + "Input"}
	if f.Call = first.step.IsCall(); !f.Call {
		f.Queries, f.New = queries(first.step.Go, im)
	}
	if first.step.Go.Whole {
		f.Input = exportedName(first.op) + "Input"
		tree, values := inputTree(first.op, im)
		v.targets(tree.structs(f.Input, ""), values)
	} else {
		tree, values := goInputTree(first.step, im)
		types := tree.structs(f.Input, "what Funcs."+name+" takes")
		v.targets(types, values)
		for i := range types {
			types[i].Columns, types[i].Element = nil, false
		}
		v.Types = append(v.Types, types...)
	}
	if len(first.step.Query.Columns) > 0 {
		root := &node{}
		for _, col := range first.step.Query.Columns {
			leaf := &node{goName: col.GoName, goType: im.use(goType(col.Type, false)), kind: col.Type.Kind, array: col.Type.Array}
			root.insert(col.Name, leaf)
		}
		root.resolve("out", "out")
		f.Output, f.Values = name+"Output", root.values()
		f.Results = pointers(f.Values)
		v.Types = append(v.Types, structView{Name: f.Output, Doc: "what Funcs." + name + " returns", Fields: root.structs(f.Output, "")[0].Fields})
	}
	v.Funcs = append(v.Funcs, f)
	v.addUndos(f, uses)
}

// targets adds the methods by which the runtime fills structs: the root's, whose
// fields stand in another order, and those of objects inside.
func (v *funcsView) targets(types []structView, values string) {
	if slices.ContainsFunc(v.Fields, func(t targetView) bool { return t.Name == types[0].Name }) {
		return // two steps of one operation that take its input
	}
	v.Fields = append(v.Fields, targetView{Receiver: "in", Name: types[0].Name, Method: "fields", Pointers: pointers(values)})
	for _, t := range types[1:] {
		if t.Element {
			v.Fields = append(v.Fields, targetView{Receiver: "e", Name: t.Name, Method: "IdemFields", Pointers: pointers(t.Values)})
		}
	}
}

// pointers turns "in.A, in.B" into "&in.A, &in.B".
func pointers(values string) string {
	if values == "" {
		return ""
	}
	return "&" + strings.ReplaceAll(values, ", ", ", &")
}

// goInputTree is the struct of what a function takes.
func goInputTree(step *model.Step, im *imports) (*node, string) {
	root := &node{}
	var leaves []*node
	for i, p := range step.Query.Params {
		absent, asked := false, false
		if in := step.Args[i].Input; step.Args[i].Kind == model.SourceInput && in != nil {
			absent, asked = !in.Required && in.Default == nil, in.HasAsked
		}
		leaf := valueNode(goName(p.Name), paramType(step, i), absent, im)
		if asked {
			makeOptional(leaf, paramType(step, i), im)
		}
		leaf.name = p.Name
		root.children = append(root.children, leaf)
		leaves = append(leaves, leaf)
	}
	root.resolve("in", "e")
	fields := make([]string, len(leaves))
	for i, leaf := range leaves {
		fields[i] = leaf.field
	}
	return root, strings.Join(fields, ", ")
}

// queries are the type of sqlc's Queries, and how one is made over tx.
func queries(g *model.GoStep, im *imports) (typ, made string) {
	use := func(name string) string {
		return im.use(model.GoType{Expr: g.Package.Name + "." + name, Imports: []string{g.Package.Import}})
	}
	typ, made = use("Queries"), use("New")+"(tx)"
	if g.DBArgument {
		made = use("New") + "()"
	}
	return typ, made
}

// usesText says which steps run a function.
func usesText(uses []goUse) string {
	var texts []string
	for _, u := range uses {
		text := exportedName(u.op)
		if u.step.Name != u.step.Go.Func {
			text = u.step.Name + " of " + text
		}
		texts = append(texts, text)
	}
	if len(texts) > 1 {
		return "a step of " + strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1]
	}
	return "a step of " + texts[0]
}

// codes are the client errors that specs declare for functions, each once.
func (v *funcsView) codes(names []string, uses map[string][]goUse) {
	seen := map[string]bool{}
	for _, name := range names {
		for _, u := range uses[name] {
			for _, rule := range u.step.Errors {
				code := rule.Problem.Code
				if rule.Constraint != "" || rule.SQLState != "" || seen[code] {
					continue
				}
				seen[code] = true
				v.Codes = append(v.Codes, codeView{Name: "Code" + goName(code), Code: strconv.Quote(code),
					Doc: fmt.Sprintf("%d: %s", rule.Problem.Status, oneLine(rule.Problem.Title))})
			}
		}
	}
	slices.SortFunc(v.Codes, func(a, b codeView) int { return strings.Compare(a.Name, b.Name) })
}
