package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// Call is a step that calls another system between two transactions.
type Call struct {
	Undo    string   `json:"undo,omitempty"` // the function that takes it back; "" for none
	Unknown string   `json:"unknown"`        // retry | hold: where nobody knows whether it was done
	Lease   string   `json:"lease"`
	Before  []string `json:"committed_before,omitempty"` // steps that others see while it runs
}

// Event is an event that an operation writes to the outbox.
type Event struct {
	Step    string   `json:"step"`
	Topic   string   `json:"topic"`
	Key     string   `json:"key,omitempty"`     // the column of the ordering key
	If      string   `json:"if,omitempty"`      // the column that says whether there is one
	Columns []string `json:"columns,omitempty"` // of the payload; none: those of the answer
}

// Webhook is the system whose deliveries an operation takes.
type Webhook struct {
	System string   `json:"system"`
	Types  []string `json:"types,omitempty"` // none: all that no other operation takes
}

// defaultLease is the runtime's.
const defaultLease = "30s"

// outside fills what an operation has to do with other systems.
func (op *Operation) outside(m *model.Operation) {
	op.Async = m.Async
	if m.Webhook != nil {
		op.Webhook = &Webhook{System: m.Webhook.System, Types: m.Webhook.Types}
	}
	var before []string
	for i, s := range m.Steps {
		if s.IsCall() {
			op.Steps[i].Call = call(s.Go.Call, slices.Clone(before))
			op.Steps[i].Does = "calls another system by " + s.Go.Func
		}
		before = append(before, s.Name)
		for _, e := range s.Events {
			op.Events = append(op.Events, Event{s.Name, e.Topic, e.Key, e.If, e.Columns})
		}
	}
}

func call(c *model.Call, before []string) *Call {
	out := &Call{Undo: c.Undo, Unknown: "retry", Lease: defaultLease, Before: before}
	if c.Hold {
		out.Unknown = "hold"
	}
	if c.Lease > 0 {
		out.Lease = duration(c.Lease)
	}
	return out
}

// The facts about other systems, of which an operation may have several.
const (
	factCall  = "Call"
	factEvent = "Event"
)

func (op *Operation) outsideFacts() []fact {
	var out []fact
	if op.Webhook != nil {
		out = append(out, fact{"Webhook", op.Webhook.text(), false})
	}
	if op.Async {
		out = append(out, fact{"Background", "answered 202 with an event; the steps run later, under the same claim", false})
	}
	for _, s := range op.Steps {
		if s.Call != nil {
			out = append(out, fact{factCall, s.callText(), false})
		}
	}
	for _, e := range op.Events {
		out = append(out, fact{factEvent, e.text(), false})
	}
	return out
}

func (w *Webhook) text() string {
	types := "all types that no other operation takes"
	if len(w.Types) > 0 {
		types = strings.Join(w.Types, ", ")
	}
	return fmt.Sprintf("%s: %s; Options.Webhooks[%q] verifies each delivery, 401 otherwise", w.System, types, w.System)
}

func (s Step) callText() string {
	c := s.Call
	parts := []string{s.Name + " by " + s.Function + ", outside of any transaction"}
	if len(c.Before) > 0 {
		parts = append(parts, "committed before: "+strings.Join(c.Before, ", "))
	}
	parts = append(parts, "lease "+c.Lease)
	if c.Unknown == "hold" {
		parts = append(parts, "an unknown outcome waits for an operator")
	} else {
		parts = append(parts, "an unknown outcome is tried again, with the same key")
	}
	if c.Undo == "" {
		return strings.Join(append(parts, "nothing takes it back"), "; ")
	}
	return strings.Join(append(parts, c.Undo+" takes it back"), "; ")
}

func (e Event) text() string {
	text := e.Topic + ", from " + e.Step
	if e.Key != "" {
		text += ", in the order of each " + e.Key
	} else {
		text += ", in no order"
	}
	if e.If != "" {
		text += ", only if " + e.If
	}
	if len(e.Columns) > 0 {
		text += ", with " + strings.Join(e.Columns, ", ")
	}
	return text
}

// calls are the functions that call other systems.
func (op *Operation) calls() []string {
	var out []string
	for _, s := range op.Steps {
		if s.Call != nil {
			out = append(out, s.Function)
		}
	}
	return out
}

func callNames(op *Operation) []named {
	var out []named
	for _, s := range op.Steps {
		if s.Call != nil {
			out = append(out, named{s.Name, s.callText()})
		}
	}
	return out
}

func eventNames(op *Operation) []named {
	var out []named
	for _, e := range op.Events {
		out = append(out, named{e.Step + " " + e.Topic, e.text()})
	}
	return out
}
