package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/idemgen/idemgen/idem"
)

// The names under which a host sends, in _meta of a call, what keys are made of.
const (
	MetaKey     = "idempotencyKey"
	MetaSession = "session"
	MetaStep    = "step"
)

// Meta is what a host says about a call beside its arguments.
type Meta struct {
	Key     string // the key itself
	Session string // the agent's run, the same after a restart; not a connection
	Step    string // the step of the run, the same when it is repeated; not the id of a tool call
}

// ReadMeta reads _meta of a call; other members are left alone. Texts are taken, and
// whole numbers for a step.
func ReadMeta(meta map[string]any) (Meta, *idem.Error) {
	var out Meta
	for name, into := range map[string]*string{MetaKey: &out.Key, MetaSession: &out.Session, MetaStep: &out.Step} {
		value, sent := meta[name]
		if !sent || value == nil {
			continue
		}
		text, ok := value.(string)
		if name == MetaStep && !ok {
			text, ok = number(value)
		}
		if !ok || text == "" {
			return Meta{}, invalid("meta-invalid", "_meta is not understood", fmt.Sprintf("%s must be a text that is not empty.", name))
		}
		*into = text
	}
	return out, nil
}

// number takes a whole number that JSON has kept exactly, in one spelling: 0 and -0 are
// one step.
func number(value any) (string, bool) {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Int64()
		return strconv.FormatInt(n, 10), err == nil
	case float64:
		return strconv.FormatInt(int64(v), 10), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case int:
		return strconv.Itoa(v), true
	}
	return "", false
}
