// Package tool calls the tools of a service for agents, over whatever transport:
// by name, with keys that are the same when an agent repeats a step.
//
// A call brings its key, or the names of session and step that one is made of. Where
// it brings neither, a tool that writes refuses it.
package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/client"
)

// KeyArgument is the argument that a tool's key may come as.
const KeyArgument = "idempotency_key"

// Options are how a Box makes keys.
type Options struct {
	// Secret makes the keys of steps, as client.DeriveKey says: at least 16 bytes, the
	// same in every process and after every restart.
	Secret []byte
	// WithoutPayload makes the key of a step of session, step and tool alone, so that
	// an agent that words its arguments anew after a restart is refused (422
	// key-reused), and not run a second time. A step then calls a tool once.
	WithoutPayload bool
}

// Call is one call, as a host of an agent makes it.
type Call struct {
	Name      string
	Arguments json.RawMessage // one JSON object; empty for none
	Meta      Meta
}

// Box holds the tools of a service. C is the emitted Caller. It is safe for
// concurrent use.
type Box[C any] struct {
	opts   Options
	tools  []idem.Tool[C]
	byName map[string]idem.Tool[C]
}

// New makes a box of the tools that the emitted Service.Tools lists. It fails
// without a secret, and where two tools have one name.
func New[C any](tools []idem.Tool[C], opts Options) (*Box[C], error) {
	if _, err := client.DeriveStepKey(opts.Secret, "session", "step", "tool"); err != nil {
		return nil, fmt.Errorf("tool: Options.Secret: %w", err)
	}
	b := &Box[C]{opts: opts, tools: tools, byName: map[string]idem.Tool[C]{}}
	for _, t := range tools {
		if _, twice := b.byName[t.Name]; twice {
			return nil, fmt.Errorf("tool: there are two tools named %s", t.Name)
		}
		b.byName[t.Name] = t
	}
	return b, nil
}

// Tools lists them by name.
func (b *Box[C]) Tools() []idem.Tool[C] { return b.tools }

// Call calls a tool for a caller, whose records are apart from those of others. The
// error is always an *idem.ToolError, which says whether to retry.
func (b *Box[C]) Call(ctx context.Context, caller C, call Call) (idem.ToolResult, error) {
	t, known := b.byName[call.Name]
	if !known {
		return idem.ToolResult{}, refuse(&idem.Error{Status: http.StatusNotFound, Code: "tool-unknown", Title: "There is no such tool"})
	}
	key, err := b.Key(call)
	if err != nil {
		return idem.ToolResult{}, refuse(err)
	}
	return t.Call(ctx, caller, key, call.Arguments)
}

// Key is the key that a call has: the one it brings, else one made of session and
// step; "" where it has neither, or the tool takes none. A key that comes with a
// session belongs to the session: in another one it is another key.
func (b *Box[C]) Key(call Call) (string, *idem.Error) {
	if !b.byName[call.Name].TakesKey {
		return "", nil
	}
	meta := call.Meta
	payload, given := splitKey(call.Arguments)
	if given != "" && meta.Key != "" && given != meta.Key {
		return "", invalid("key-conflict", "_meta and the argument "+KeyArgument+" have different keys", "Send one of the two.")
	}
	key := cmp.Or(meta.Key, given)
	switch {
	case key != "" && meta.Session == "":
		return key, nil
	case !isKey(key):
		return "", invalid("key-invalid", "Invalid idempotency key", "It must be 1 to 255 visible ASCII characters, without spaces.")
	case key != "":
		return b.derived(client.DeriveKey(b.opts.Secret, meta.Session, "key", call.Name, key)) // no payload of a step is a text
	case meta.Session == "" && meta.Step == "":
		return "", nil
	case meta.Session == "" || meta.Step == "":
		return "", invalid("step-incomplete", "_meta names a session or a step, not both", "Send both, or a key.")
	case b.opts.WithoutPayload:
		return b.derived(client.DeriveStepKey(b.opts.Secret, meta.Session, meta.Step, call.Name))
	}
	return b.derived(client.DeriveKey(b.opts.Secret, meta.Session, meta.Step, call.Name, payload))
}

// isKey: none, or what a tool takes for a key where no session hides it.
func isKey(key string) bool {
	return len(key) <= 255 && strings.IndexFunc(key, func(r rune) bool { return r < '!' || r > '~' }) < 0
}

func (b *Box[C]) derived(key string, err error) (string, *idem.Error) {
	if err != nil {
		return "", invalid("arguments-invalid", "The arguments are not one JSON object", "No key can be made of them.")
	}
	return key, nil
}

// splitKey parts the arguments from the key among them, "" for none. What can't be
// read stays as it is: the call is refused for it.
func splitKey(arguments json.RawMessage) (payload json.RawMessage, key string) {
	var members map[string]json.RawMessage
	if len(bytes.TrimSpace(arguments)) > 0 && json.Unmarshal(arguments, &members) != nil {
		return arguments, ""
	}
	if members == nil {
		return json.RawMessage("{}"), ""
	}
	given, sent := members[KeyArgument]
	if !sent || json.Unmarshal(given, &key) != nil {
		return arguments, ""
	}
	delete(members, KeyArgument)
	payload, err := json.Marshal(members)
	if err != nil {
		return arguments, key
	}
	return payload, key
}

func invalid(code, title, detail string) *idem.Error {
	return &idem.Error{Status: http.StatusBadRequest, Code: code, Title: title, Detail: detail}
}

func refuse(err *idem.Error) error { return idem.Refusal(err) }

// Retryable reports whether a failed call is worth another try with the same key.
func Retryable(err error) bool {
	var refused *idem.ToolError
	return errors.As(err, &refused) && refused.Retryable
}
