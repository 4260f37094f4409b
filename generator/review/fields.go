package review

import (
	"slices"
	"strconv"
	"strings"
)

// fields lists all that differs, finding or not.
func fields(was, now *Operation) []Field {
	single := func(op *Operation) []named {
		var out []named
		for _, f := range op.facts(nil) {
			if f.Name != factIntent && f.Name != factWrites && f.Name != factCall && f.Name != factEvent { // several: told as lists
				out = append(out, named{f.Name, f.Value})
			}
		}
		return out
	}
	out := paired("", single(was), single(now))
	return append(out, listFields(was, now)...)
}

func listFields(was, now *Operation) []Field {
	var out []Field
	for _, list := range []struct {
		name          string
		before, after []named
	}{
		{"intent", intentNames(was), intentNames(now)},
		{"writes", plainNames(was.Writes), plainNames(now.Writes)},
		{"call", callNames(was), callNames(now)},
		{"event", eventNames(was), eventNames(now)},
		{"answer", answerNames(was), answerNames(now)},
		{"lock", lockNames(was), lockNames(now)},
		{"input", inputNames(was), inputNames(now)},
		{"member", memberNames(was), memberNames(now)},
		{"step", stepNames(was), stepNames(now)},
	} {
		out = append(out, paired(list.name, list.before, list.after)...)
	}
	return out
}

// named is an element of a list: what it is told by, and all of it.
type named struct{ id, text string }

// paired lists what differs under one name, or, where that is "", under the
// elements' own.
func paired(name string, before, after []named) []Field {
	under := func(n named) string {
		if name == "" {
			return n.id
		}
		return name
	}
	find := func(list []named, id string) string {
		i := slices.IndexFunc(list, func(n named) bool { return n.id == id })
		if i < 0 {
			return ""
		}
		return list[i].text
	}
	var out []Field
	for _, n := range before {
		if now := find(after, n.id); now != n.text {
			out = append(out, Field{under(n), n.text, now})
		}
	}
	for _, n := range after {
		if find(before, n.id) == "" {
			out = append(out, Field{under(n), "", n.text})
		}
	}
	return out
}

// name is an answer's status and code.
func (a Answer) name() string {
	if a.Code == "" {
		return strconv.Itoa(a.Status)
	}
	return strconv.Itoa(a.Status) + " " + a.Code
}

func answerNames(op *Operation) []named {
	var out []named
	for _, a := range op.Answers {
		text := a.name() + ": " + a.From
		if a.Kept != "" {
			text += "; recorded for " + a.Kept
		}
		if a.Title != "" {
			text += "; title " + strconv.Quote(a.Title)
		}
		id := a.name() + a.cause()
		if a.From == "done" {
			id = a.From
		}
		out = append(out, named{id, text})
	}
	return out
}

func intentNames(op *Operation) []named {
	var out []named
	for _, in := range op.Intents {
		out = append(out, named{in.text(), in.text()})
	}
	return out
}

func plainNames(names []string) []named {
	var out []named
	for _, n := range names {
		out = append(out, named{n, n})
	}
	return out
}

func lockNames(op *Operation) []named {
	var out []named
	for _, l := range op.Locks {
		out = append(out, named{l.id() + l.Step, l.kindText() + ": " + l.text()})
	}
	return out
}

func inputNames(op *Operation) []named {
	var out []named
	for _, in := range op.Inputs {
		out = append(out, named{in.Name, in.Name + ": " + in.rules()})
	}
	return out
}

func memberNames(op *Operation) []named {
	var out []named
	for _, m := range op.Response {
		out = append(out, named{m.Name, nameOr(m.Name, "the value") + ": " + m.Type})
	}
	return out
}

func stepNames(op *Operation) []named {
	var out []named
	for _, s := range op.Steps {
		text := s.Name + ": " + s.Does
		if s.Each != "" {
			text += ", once per element of " + s.Each
		}
		id := s.Name
		if s.Name == op.Name {
			id, text = "", strings.TrimPrefix(text, s.Name+": ")
		}
		out = append(out, named{id, text})
	}
	return out
}
