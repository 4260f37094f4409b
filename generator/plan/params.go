package plan

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// params are the parameters of one statement: first the user's own, then the
// runtime's.
type params struct {
	args  []Arg
	names []string // for the comment at the statement's head
}

// userParams begins with a step's own parameters, under their own numbers.
func (u *unit) userParams() *params {
	p := &params{}
	for i, source := range u.step.Args {
		var param model.Param
		if i < len(u.query.Params) {
			param = u.query.Params[i]
		}
		p.add(param.Name, Arg{Source: source, Type: param.Type})
	}
	return p
}

func (p *params) add(name string, arg Arg) string {
	p.args = append(p.args, arg)
	p.names = append(p.names, name)
	return fmt.Sprintf("$%d", len(p.args))
}

// runtime is the place of one of the runtime's own values, added where it is
// asked for first.
func (p *params) runtime(arg RuntimeArg) string {
	for i, a := range p.args {
		if a.Runtime == arg {
			return fmt.Sprintf("$%d", i+1)
		}
	}
	return p.add(string(arg), Arg{Runtime: arg, Type: runtimeTypes[arg]})
}

// event is the place of the key of the operation's event with this label.
func (p *params) event(label string) string {
	return p.add(string(ArgEvent), Arg{Runtime: ArgEvent, Label: label, Type: runtimeTypes[ArgEvent]})
}

var runtimeTypes = map[RuntimeArg]model.Type{
	ArgScope:        {Kind: model.KindText, Name: "text"},
	ArgDigest:       {Kind: model.KindBytea, Name: "bytea"},
	ArgKey:          {Kind: model.KindText, Name: "text"},
	ArgFingerprint:  {Kind: model.KindBytea, Name: "bytea"},
	ArgEmpty:        {Kind: model.KindText, Name: "text"},
	ArgEmptyHeaders: {Kind: model.KindJSON, Name: "jsonb"},
	ArgLock:         {Kind: model.KindInt8, Name: "bigint"},
	ArgEvent:        {Kind: model.KindText, Name: "text"},
	ArgTrace:        {Kind: model.KindJSON, Name: "jsonb"},
}

// What reviewers read about the runtime's values.
var runtimeNotes = map[RuntimeArg]string{
	ArgScope:        "whom the key belongs to",
	ArgDigest:       "hash of the operation and the key",
	ArgKey:          "the key",
	ArgFingerprint:  "digest of the declared inputs",
	ArgEmpty:        "the problem where no row is found",
	ArgEmptyHeaders: "its headers",
	ArgLock:         "number of the advisory lock",
	ArgEvent:        "key of the event",
	ArgTrace:        "trace context of the request",
}

// comment is one line per parameter.
func (p *params) comment() string {
	var b strings.Builder
	for i, a := range p.args {
		note := runtimeNotes[a.Runtime]
		if a.Runtime == "" {
			note = sourceNote(a.Source)
		}
		if a.Label != "" {
			note += ": " + a.Label
		}
		fmt.Fprintf(&b, "-- $%d %s: %s\n", i+1, oneLine(p.names[i]), oneLine(note))
	}
	return b.String()
}

// sourceNote writes a source as users do.
func sourceNote(s model.Source) string {
	switch s.Kind {
	case model.SourceInput:
		if s.Input.Name == "" {
			return string(s.Input.From) // the whole body
		}
		return string(s.Input.From) + "." + s.Input.Name
	case model.SourceHas:
		return "has(body." + s.Input.Name + ")"
	case model.SourceLiteral:
		return "'" + s.Literal + "'"
	case model.SourceStep:
		return s.Step + "." + s.Column
	case model.SourceItem:
		return "item." + s.Member
	}
	return string(s.Kind)
}

// oneLine keeps a text inside its comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}
