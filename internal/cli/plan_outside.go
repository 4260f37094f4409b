package cli

import (
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/model"
)

// callJSON is a call of another system.
type callJSON struct {
	Step     string   `json:"step"`
	Function string   `json:"function"`
	Before   []string `json:"committed_before,omitempty"` // steps
	Lease    string   `json:"lease"`
	Unknown  string   `json:"unknown"` // retry | hold
	Undo     string   `json:"undo,omitempty"`
}

// eventJSON is an event for the outbox.
type eventJSON struct {
	Step  string `json:"step"`
	Topic string `json:"topic"`
	Key   string `json:"key,omitempty"` // the column of the ordering key
	If    string `json:"if,omitempty"`  // the column that says whether there is one
}

// defaultLease is the runtime's.
const defaultLease = 30 * time.Second

func callsOf(op *model.Operation) []callJSON {
	var out []callJSON
	var before []string
	for _, s := range op.Steps {
		if s.IsCall() {
			c := s.Go.Call
			lease := c.Lease
			if lease == 0 {
				lease = defaultLease
			}
			call := callJSON{s.Name, s.Go.Func, append([]string(nil), before...), lease.String(), "retry", c.Undo}
			if c.Hold {
				call.Unknown = "hold"
			}
			out = append(out, call)
		}
		before = append(before, s.Name)
	}
	return out
}

func eventsOf(op *model.Operation) []eventJSON {
	var out []eventJSON
	for _, s := range op.Steps {
		for _, e := range s.Events {
			out = append(out, eventJSON{s.Name, e.Topic, e.Key, e.If})
		}
	}
	return out
}

// planOutside prints what the statements don't show.
func (a *app) planOutside(op *model.Operation) {
	if op.Async {
		a.print("async: answered 202; the statements run later, in the background")
	}
	for _, c := range callsOf(op) {
		parts := []string{"lease " + c.Lease, "unknown: " + c.Unknown}
		if len(c.Before) > 0 {
			parts = append([]string{"committed before it: " + strings.Join(c.Before, ", ")}, parts...)
		}
		if c.Undo != "" {
			parts = append(parts, "undo: "+c.Undo)
		}
		a.print("call: %s by %s; %s", c.Step, c.Function, strings.Join(parts, "; "))
	}
	for _, e := range eventsOf(op) {
		text := e.Topic + " from " + e.Step
		if e.Key != "" {
			text += ", ordered by " + e.Key
		}
		if e.If != "" {
			text += ", only if " + e.If
		}
		a.print("event: %s", text)
	}
}
