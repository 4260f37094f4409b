package idem

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// unfinished is what there is under the key of a durable operation. Nil: nothing.
type unfinished struct {
	ans    *answer // the record, or what every duplicate of an async one gets; nil while there is none
	print  []byte
	held   bool
	owner  string
	leased bool // somebody works at it
}

// errUnderWay is the failure of an attempt that met unfinished work.
var errUnderWay = errors.New("idem: the operation is under way")

func errHeld() *Error {
	return &Error{Status: http.StatusConflict, Code: "held", Title: "Held for an operator",
		Detail: "It is not known whether a call to another system was done, or it can't be done; an operator decides how this request goes on."}
}

// answered is the answer that there is, nil if none.
func (u *unfinished) answered() *answer {
	if u == nil {
		return nil
	}
	return u.ans
}

// readUnfinished takes a row of findWork.
func (s *Service) readUnfinished(inv *invocation, r result) (*unfinished, error) {
	if len(r.rows) == 0 {
		return nil, nil
	}
	row := r.rows[0]
	status, err := strconv.Atoi(string(row[0]))
	if err != nil {
		return nil, err
	}
	met := &unfinished{print: bytesOfHex(row[3]), held: isTrue(row[5]), owner: string(row[6]), leased: isTrue(row[7])}
	switch {
	case inv.op.Async:
		met.ans = s.acceptedAs(inv, string(row[4]))
		met.ans.replayed, met.ans.print, met.ans.pending = true, met.print, status == 0
	case status != 0:
		met.ans, err = readAnswer([][]byte{[]byte("t"), row[0], row[1], row[2], met.print})
	}
	return met, err
}

// bytesOfHex reads what encode(…, 'hex') made.
func bytesOfHex(text []byte) []byte {
	raw, _ := hex.DecodeString(string(text)) // PostgreSQL made it
	return raw
}

// lookFor reads what there is under the key; nil if nothing.
func (s *Service) lookFor(ctx context.Context, inv *invocation) (*unfinished, error) {
	results, err := inv.pool.sendAside(ctx, findWork.with(inv.identityParams()...))
	if err != nil {
		return nil, err
	}
	return s.readUnfinished(inv, results[0])
}

// meet ends the beginning of a transaction that met something under its key.
func (t *transaction) meet(r result) (*answer, *failure) {
	met, err := t.s.readUnfinished(t.inv, r)
	switch {
	case err != nil:
		return nil, &failure{err: err, step: unknownStep}
	case met.ans != nil:
		return met.ans, nil
	}
	t.met = met
	return nil, &failure{err: errUnderWay, step: unknownStep}
}

// runCalls runs an operation with calls, or continues it.
func (s *Service) runCalls(ctx context.Context, inv *invocation) *answer {
	w := newWork(s, inv)
	wait := newPauses(inv.wait())
	var tries tries
	for {
		inv.seen.attempt()
		ans, met, failed := w.begin(ctx, &tries)
		switch {
		case failed == nil && ans != nil:
			return s.judge(inv, ans)
		case failed == nil:
			ans = w.drive(ctx)
		case met != nil:
			ans = w.join(ctx, met, wait)
		default:
			if ans = s.overcome(ctx, inv, failed, &tries); ans == nil {
				inv.seen.retry(failed, tries.why)
			}
		}
		if ans != nil {
			return ans
		}
	}
}

// begin is the transaction of the steps before the first call: at its end the
// work is written down, and this process has its lease.
func (w *work) begin(ctx context.Context, tries *tries) (ans *answer, met *unfinished, failed *failure) {
	failed = w.onConn(ctx, tries, func(c *conn) *failure {
		t := &transaction{s: w.s, c: c, inv: w.inv}
		var failed *failure
		ans, failed = w.first(ctx, t)
		met = t.met
		return failed
	})
	return ans, met, failed
}

func (w *work) first(ctx context.Context, t *transaction) (*answer, *failure) {
	working, cancel := context.WithDeadline(ctx, w.inv.deadline.Add(w.s.grace))
	defer cancel()
	call := w.inv.op.nextCall(0)
	if err := t.prepareSteps(working, 0, call); err != nil {
		return nil, &failure{err: err, step: unknownStep}
	}
	ans, failed := t.begin(working)
	if ans != nil || failed != nil {
		return ans, failed
	}
	run := &stepRun{transaction: t}
	ans, failed = run.some(working, 0, call)
	switch {
	case failed != nil:
		return nil, failed
	case ans != nil: // no row is the answer
		return ans, t.commit(ctx, ans)
	}
	done := run.progress()
	if failed := t.commitWith(ctx, w.beginning(t, done.stored(w.inv.op), call)); failed != nil {
		return nil, failed
	}
	w.s.wakeFor(ctx, w.inv)
	w.attempt, w.undoing = 1, false
	w.moved(done, call)
	return nil, nil
}

// beginning writes the work down, with its key.
func (w *work) beginning(t *transaction, results []byte, call int) statement {
	w.at = call
	params := append(w.inv.identityParams(), []byte(w.inv.op.stored), w.inv.storedText(w.s.callers), results,
		number(call), []byte(w.owner), seconds(w.lease()))
	if t.rowFirst() {
		return beginClaimedWork.with(params...)
	}
	return beginWork.with(append(params, []byte(w.inv.key), byteaText(w.inv.print))...)
}

// join is what a request does about the unfinished work of its key. Nil: look again.
func (w *work) join(ctx context.Context, met *unfinished, wait *pauses) *answer {
	if len(fingerprintDiff(met.print, w.inv.print)) > 0 || met.held {
		return w.s.barred(w.inv, met)
	}
	if !met.leased || met.owner == w.owner {
		switch taken, err := w.take(ctx); {
		case err != nil:
			return w.stuck(ctx, err)
		case taken:
			return w.drive(ctx)
		}
	}
	return w.s.awaitOther(ctx, w.inv, wait)
}

// barred is the answer to a request that the work under its key is not for, or
// that nobody may continue.
func (s *Service) barred(inv *invocation, met *unfinished) *answer {
	if parts := fingerprintDiff(met.print, inv.print); len(parts) > 0 {
		return s.refuse(inv, s.protocol.errKeyReused(parts))
	}
	if met.held {
		return s.refuse(inv, errHeld())
	}
	return s.refuse(inv, errInFlight())
}

// awaitOther waits for the process that has the lease, holding no connection.
// Nil: it is over, look again.
func (s *Service) awaitOther(ctx context.Context, inv *invocation, wait *pauses) *answer {
	for wait.pause(ctx) {
		met, err := s.lookFor(ctx, inv)
		switch {
		case err != nil:
			return s.refuse(inv, errUnavailable(err))
		case met == nil || met.ans != nil || met.held || !met.leased:
			return nil
		}
	}
	return s.refuse(inv, errInFlight())
}

// turnedAwayFrom answers a request whose turn in this process did not come.
func (s *Service) turnedAwayFrom(ctx context.Context, inv *invocation) *answer {
	met, err := s.lookFor(ctx, inv)
	switch {
	case err != nil || met == nil:
		return s.refuse(inv, errInFlight())
	case met.ans != nil:
		return s.judge(inv, met.ans)
	}
	return s.barred(inv, met)
}

// pauses are a wait in steps that grow, half of each random.
type pauses struct {
	until time.Time
	next  time.Duration
}

func newPauses(wait time.Duration) *pauses {
	return &pauses{until: time.Now().Add(wait), next: 20 * time.Millisecond}
}

// pause waits for a step; false where the time is over.
func (p *pauses) pause(ctx context.Context) bool {
	left := time.Until(p.until)
	if left <= 0 {
		return false
	}
	timer := time.NewTimer(min(left, jittered(p.next)))
	defer timer.Stop()
	p.next = min(2*p.next, 500*time.Millisecond)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
