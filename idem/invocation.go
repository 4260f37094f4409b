package idem

import (
	"context"
	"time"
)

// invocation is one call of an operation: its identity, its inputs, and what is
// made once for it.
type invocation struct {
	op     *operation
	pool   *pool // of the scope
	scope  string
	key    string // "" if unprotected
	client string // the valid key that the client sent
	values []Value
	caller []Value // of Config.Caller
	print  []byte

	digest   []byte
	instance string // see occurrence
	deadline time.Time
	made     map[ArgFrom]string
	// handler is the business of Do, in place of the operation's steps.
	handler func(context.Context, Tx) (Response, error)
	who     []any // the caller's values, as they were given
	forced  bool  // X-Force-Retry: it runs whatever record there is
	seen    *watch
	// Of its events: the trace context they keep, what tells them from those of
	// another execution under the key, the number of a forced run, and whether Go
	// code has written any.
	trace      []byte
	generation string
	run        int
	emitted    bool
	// delivered: it is a webhook's delivery, which has a scope and no caller.
	delivered bool
	// stays: a context that is cancelled does not end the wait for the answer.
	// net/http cancels one also where the client only sends no more, or where the
	// server is about to stop, and the answer can still be written. One whose
	// deadline has passed does end it: somebody set that.
	stays bool
}

func newInvocation(op *operation, p *pool, scope string) *invocation {
	return &invocation{op: op, pool: p, scope: scope}
}

// occurrence names this invocation in problems and logs.
func (inv *invocation) occurrence() string {
	if inv.instance == "" {
		inv.instance = newInstance()
	}
	return inv.instance
}

// told gives ans back, of which the observer has been told.
func (inv *invocation) told(ans *answer) *answer {
	inv.seen.end(inv, ans)
	return ans
}

// keyed reports whether the call is protected by a key.
func (inv *invocation) keyed() bool { return inv.key != "" }

// protect gives the call its key.
func (inv *invocation) protect(key string) {
	inv.key = key
	if key == "" {
		return
	}
	inv.digest = digestOf(inv.op.stored, key)
}

// lock is the number of the advisory lock, which not every strategy takes.
func (inv *invocation) lock() int64 { return lockOf(inv.scope, inv.op.stored, inv.key) }

// once is a server-made value, the same for the whole invocation.
func (inv *invocation) once(from ArgFrom) string {
	if v, ok := inv.made[from]; ok {
		return v
	}
	var v string
	switch from {
	case ArgNow:
		v = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	case ArgUUID4:
		v = newUUID4()
	default:
		v = newUUID7(time.Now())
	}
	if inv.made == nil {
		inv.made = map[ArgFrom]string{}
	}
	inv.made[from] = v
	return v
}
