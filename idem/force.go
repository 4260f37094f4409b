package idem

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// forceHeader asks to run an operation again under a key that has a record.
const forceHeader = "X-Force-Retry"

var (
	// Left to right: the limit of the wait, the wait for forced runs before this
	// one, the end of the limit. A statement of its own, so that the snapshots of
	// those behind it are taken when the others are done.
	enterForced = newQuery("SELECT set_config('lock_timeout', $2, true), pg_advisory_xact_lock($1), set_config('lock_timeout', NULL, true)")
	// Ends the transaction where the record is that of another request.
	refuseReused  = newQuery(gen.RefuseReused)
	replaceRecord = newQuery(gen.ReplaceRecord)
)

// reusedRule is what refuseReused names; no column can have that name without
// quotes of its own.
const reusedRule = "@reused"

// force reads X-Force-Retry. An operation that takes no key always runs, so
// there is nothing to force.
func (h *handler) force(r *http.Request, inv *invocation) *Error {
	lines := r.Header.Values(forceHeader)
	if len(lines) == 0 || h.op.Key.From == KeyNone {
		return nil
	}
	value := strings.Trim(lines[0], " \t")
	isTrue := strings.EqualFold(value, "true")
	switch {
	case len(lines) > 1 || !isTrue && !strings.EqualFold(value, "false"):
		return &Error{Status: http.StatusBadRequest, Code: "force-retry-invalid", Title: "Invalid " + forceHeader,
			Detail: "It must be true or false, in one header line."}
	case isTrue && !h.op.Policy.Force:
		return &Error{Status: http.StatusBadRequest, Code: "force-retry-refused", Title: "This operation can't be forced",
			Detail: "The operation " + string(h.op.Name) + " does not take " + forceHeader + ": a new key runs it again."}
	}
	inv.forced = isTrue && inv.keyed()
	return nil
}

// wait is how long the claim is waited for. A forced run waits for its turn,
// whatever the policy says about duplicates: it has no record to be answered by.
func (inv *invocation) wait() time.Duration {
	if inv.forced {
		return inv.op.Policy.longestWait()
	}
	return inv.op.Policy.Wait
}

// turn is how long the turn in this process is waited for. Async operations take
// a round trip, so theirs always comes.
func (inv *invocation) turn() time.Duration {
	if inv.op.Async {
		return inv.op.Policy.Timeout
	}
	return inv.wait()
}

// longestWait bounds wait for all requests of an operation.
func (p *Policy) longestWait() time.Duration {
	if p.Force {
		return max(p.Wait, p.Timeout)
	}
	return p.Wait
}

// maxForcedTries bounds the attempts of a forced run that meet another one. At
// repeatable read and serializable each that commits makes those that wait for
// the lock begin anew: their snapshots predate it.
const maxForcedTries = 20

func (inv *invocation) maxSerialization() int {
	if inv.forced {
		return maxForcedTries
	}
	return maxSerialization
}

// flight is what requests take turns by in memory. Forced runs have turns of
// their own: a plain duplicate need not wait for one, the record is there.
func (inv *invocation) flight() identity {
	id := identity{inv.scope, string(inv.digest)}
	if inv.forced {
		id.digest += " forced"
	}
	return id
}

// runForced runs a one-statement operation whatever record there is, which the
// new one replaces: one implicit transaction, one round trip. Nothing gates the
// user's statement, so fused and verbatim need no difference.
func (s *Service) runForced(ctx context.Context, c *conn, inv *invocation) (*answer, *failure) {
	step := &inv.op.steps[0]
	script := s.preamble(c, inv)
	enter := len(script)
	script = append(script, enterForced.with(strconv.AppendInt(nil, inv.lock(), 10), []byte(millis(inv.wait()))))
	if len(inv.print) > 0 && inv.print[0] != printNone {
		script = append(script, refuseReused.with(append(inv.identityParams(), byteaText(inv.print))...))
	}
	script = append(script, inv.op.forced.with(s.bound(inv).bind(step.Forced)...))
	results, err := c.send(ctx, script...)
	if err != nil {
		return nil, &failure{err: err, claiming: isLockTimeout(err) && len(results) <= enter}
	}
	return s.read(results[len(results)-1])
}

// passes reports whether a forced run goes past this record. It does not where
// the record is that of another request.
func (inv *invocation) passes(ans *answer) bool {
	return inv.forced && len(fingerprintDiff(ans.print, inv.print)) == 0
}

// reused answers a forced run that met the record of another request. Nil: the
// record vanished meanwhile, try again.
func (s *Service) reused(ctx context.Context, inv *invocation, tries *tries) *answer {
	found, err := s.lookUp(ctx, inv)
	switch {
	case err != nil:
		return s.refuse(inv, errUnavailable(err))
	case found != nil && !inv.passes(found):
		return s.judge(inv, found)
	case tries.more(&tries.vanished, maxVanished, RetryVanished):
		return nil
	}
	return s.refuse(inv, errInFlight())
}

// forForced says what the client of a forced run can do about a 503: sent again,
// it would run once more.
func (e *Error) forForced() {
	if e.Status == http.StatusServiceUnavailable && e.cause != nil {
		e.Detail = "The request could not be completed now, or it is not known. Sent again without " + forceHeader +
			", the key's record is the answer; with it, the operation runs once more."
	}
}
