package review

import (
	"slices"
	"strings"
)

func (c *comparison) route(was, now *Operation) {
	if was.Method != now.Method || was.Path != now.Path {
		c.find("route-changed", "%s %s, was %s %s", now.Method, now.Path, was.Method, was.Path)
	}
	if was.Status != now.Status {
		c.find("status-changed", "success is %d, was %d", now.Status, was.Status)
	}
	for _, name := range missing(was.Headers, now.Headers) {
		c.find("header-removed", "the header %s is gone", name)
	}
}

// declared are the answers that the operation itself declares. Those that
// follow from key, policy and inputs have rules of their own.
func (op *Operation) declared() []Answer {
	general := []string{"", "input-invalid", "key-missing", "key-reused", "in-flight", "processing", "intent-conflict"}
	return slices.DeleteFunc(slices.Clone(op.Answers), func(a Answer) bool { return a.From == "done" || a.Code != "" && slices.Contains(general, a.Code) })
}

// cause is what leads to an answer, without the step and the aside.
func (a Answer) cause() string {
	text, _, _ := strings.Cut(a.From, "; 422 input-invalid")
	if _, rest, ok := strings.Cut(text, ": "); ok {
		return rest
	}
	return text
}

func (c *comparison) answerList(was, now *Operation) {
	before, after := was.declared(), now.declared()
	equal := func(a Answer) func(Answer) bool {
		return func(b Answer) bool {
			return a.Status == b.Status && a.Code == b.Code && (a.Code != "" || a.cause() == b.cause())
		}
	}
	cause := func(a Answer) func(Answer) bool {
		return func(b Answer) bool { return a.cause() == b.cause() }
	}
	for _, old := range before {
		if slices.ContainsFunc(after, equal(old)) {
			continue
		}
		// A function says several things: its answers are told apart by code.
		if i := slices.IndexFunc(after, cause(old)); i >= 0 && !strings.HasSuffix(old.From, "the function says so") && !slices.ContainsFunc(before, equal(after[i])) {
			c.find("answer-changed", "%s: %s, was %s", old.cause(), after[i].name(), old.name())
		} else {
			c.find("answer-removed", "%s (%s) is gone", old.name(), old.cause())
		}
	}
	for _, a := range after {
		if slices.ContainsFunc(before, equal(a)) || slices.ContainsFunc(before, cause(a)) && !strings.HasSuffix(a.From, "the function says so") {
			continue
		}
		c.find("answer-added", "%s (%s)", a.name(), a.cause())
	}
}

func (c *comparison) inputs(was, now *Operation) {
	for _, old := range was.Inputs {
		i := slices.IndexFunc(now.Inputs, func(in Input) bool { return in.Name == old.Name })
		if strings.HasPrefix(old.Name, "caller.") {
			continue // the service's own
		}
		if i < 0 {
			c.find("input-removed", "%s is gone", old.Name)
			continue
		}
		c.input(old, now.Inputs[i])
	}
	for _, in := range now.Inputs {
		known := slices.ContainsFunc(was.Inputs, func(old Input) bool { return old.Name == in.Name })
		if !known && in.Required && !strings.HasPrefix(in.Name, "caller.") {
			c.find("input-required", "%s is new, and required", in.Name)
		}
	}
}

func (c *comparison) input(was, now Input) {
	if now.Required && !was.Required {
		c.find("input-required", "%s is required, was optional", now.Name)
	}
	if was.Type != now.Type {
		c.find("input-type", "%s is %s, was %s", now.Name, now.Type, was.Type)
	}
	if was.Nullable && !now.Nullable {
		c.find("input-stricter", "%s may not be null any more", now.Name)
	}
	if added := missing(now.Checks, was.Checks); len(added) > 0 {
		c.find("input-stricter", "%s: %s", now.Name, strings.Join(added, "; "))
	}
}

func (c *comparison) response(was, now *Operation) {
	for _, old := range was.Response {
		i := slices.IndexFunc(now.Response, func(m Member) bool { return m.Name == old.Name })
		switch {
		case i < 0:
			c.find("member-removed", "%s is gone from the answer", nameOr(old.Name, "the value"))
		case now.Response[i].Type != old.Type:
			c.find("member-type", "%s of the answer is %s, was %s", nameOr(old.Name, "the value"), now.Response[i].Type, old.Type)
		}
	}
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}
