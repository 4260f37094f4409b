package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// argWriter writes idem.Arg literals of one operation: sources by the index of
// what they name.
type argWriter struct {
	op    *model.Operation
	steps []plan.Results // of each step: where later steps find its columns
}

// args writes the arguments of a statement, one a line.
func (w argWriter) args(args []plan.Arg) (string, error) {
	items, comments := make([]string, len(args)), make([]string, len(args))
	for i, a := range args {
		item, err := w.arg(a)
		if err != nil {
			return "", err
		}
		items[i] = item
		comments[i] = fmt.Sprintf("$%d %s", i+1, describe(a))
	}
	return lines("idem.Arg", items, comments), nil
}

func (w argWriter) arg(a plan.Arg) (string, error) {
	if a.Runtime != "" {
		from, ok := runtimeArgs[a.Runtime]
		if !ok {
			return "", fmt.Errorf("operation %s: unknown runtime value %q", w.op.Name, a.Runtime)
		}
		return object("", member{"From", from}, member{"Text", text(a.Label)}), nil
	}
	return w.source(a.Source, a.Type)
}

var runtimeArgs = map[plan.RuntimeArg]string{
	plan.ArgScope:        "idem.ArgScope",
	plan.ArgDigest:       "idem.ArgDigest",
	plan.ArgKey:          "idem.ArgKey",
	plan.ArgFingerprint:  "idem.ArgFingerprint",
	plan.ArgEmpty:        "idem.ArgEmpty",
	plan.ArgEmptyHeaders: "idem.ArgEmptyHeaders",
	plan.ArgLock:         "idem.ArgLock",
	plan.ArgEvent:        "idem.ArgEvent",
	plan.ArgTrace:        "idem.ArgTrace",
}

// plainSources need no index.
var plainSources = map[model.SourceKind]string{
	model.SourceScope: "idem.ArgScope",
	model.SourceKey:   "idem.ArgKey",
	model.SourceNow:   "idem.ArgNow",
	model.SourceUUID4: "idem.ArgUUID4",
	model.SourceUUID7: "idem.ArgUUID7",
}

// source writes the literal of a source that feeds a parameter of type t.
func (w argWriter) source(s model.Source, t model.Type) (string, error) {
	var members []member
	var err error
	switch s.Kind {
	case model.SourceInput:
		members, err = w.field("idem.ArgField", s.Input)
	case model.SourceHas:
		members, err = w.field("idem.ArgHas", s.Input)
	case model.SourceItem:
		members, err = w.item(s)
	case model.SourceStep:
		members, err = w.column(s)
	case model.SourceLiteral:
		members = []member{{"From", "idem.ArgLiteral"}, {"Text", strconv.Quote(s.Literal)}}
	default:
		from, ok := plainSources[s.Kind]
		if !ok {
			return "", fmt.Errorf("operation %s: a source of kind %q can't be a parameter", w.op.Name, s.Kind)
		}
		members = []member{{"From", from}}
	}
	if err != nil {
		return "", err
	}
	members = append(members, member{"Kind", kindName(t.Kind)}, member{"Array", boolean(t.Array)})
	return object("", members...), nil
}

func (w argWriter) field(from string, in *model.Input) ([]member, error) {
	i, err := w.fieldIndex(in)
	return []member{{"From", from}, {"Field", strconv.Itoa(i)}}, err
}

func (w argWriter) item(s model.Source) ([]member, error) {
	list, err := w.fieldIndex(s.Input)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Input.Type.Members, func(m model.Member) bool { return m.Name == s.Member })
	if i < 0 {
		return nil, fmt.Errorf("operation %s: the elements of %s have no %s", w.op.Name, s.Input.Name, s.Member)
	}
	return []member{{"From", "idem.ArgItem"}, {"Field", strconv.Itoa(list)}, {"Item", strconv.Itoa(i)}}, nil
}

func (w argWriter) column(s model.Source) ([]member, error) {
	step := stepIndex(w.op, s.Step)
	if step < 0 {
		return nil, fmt.Errorf("operation %s has no step %s", w.op.Name, s.Step)
	}
	column := slices.Index(w.steps[step].Text, s.Column)
	if column < 0 {
		return nil, fmt.Errorf("operation %s: the plan of step %s keeps no column %s", w.op.Name, s.Step, s.Column)
	}
	return []member{{"From", "idem.ArgStep"}, {"Step", strconv.Itoa(step)}, {"Column", strconv.Itoa(column)}}, nil
}

// fieldIndex finds an input among the operation's fields.
func (w argWriter) fieldIndex(in *model.Input) (int, error) {
	if in == nil {
		return 0, fmt.Errorf("operation %s: a source names no input", w.op.Name)
	}
	i := slices.IndexFunc(w.op.Inputs, func(o *model.Input) bool { return o.From == in.From && o.Name == in.Name })
	if i < 0 {
		return 0, fmt.Errorf("operation %s has no input %s.%s", w.op.Name, in.From, in.Name)
	}
	return i, nil
}

// describe says where an argument comes from, as a developer would write it.
func describe(a plan.Arg) string {
	s := a.Source
	switch {
	case a.Label != "":
		return string(a.Runtime) + ": " + a.Label
	case a.Runtime != "":
		return string(a.Runtime)
	case s.Input != nil && s.Kind == model.SourceHas:
		return "has(" + inputName(s.Input) + ")"
	case s.Kind == model.SourceItem:
		return "item." + s.Member
	case s.Input != nil:
		return inputName(s.Input)
	case s.Kind == model.SourceStep:
		return s.Step + "." + s.Column
	case s.Kind == model.SourceLiteral:
		return "'" + s.Literal + "'"
	}
	return string(s.Kind)
}

func inputName(in *model.Input) string {
	if in.Name == "" {
		return string(in.From)
	}
	return string(in.From) + "." + in.Name
}
