package idem

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// transaction is one attempt of an operation that takes several round trips.
type transaction struct {
	s   *Service
	c   *conn
	inv *invocation
	met *unfinished // what begin met of a durable operation
}

// rowFirst: the snapshot predates the advisory lock, so the key row, not the
// lock, is what a duplicate must meet.
func (t *transaction) rowFirst() bool { return t.inv.op.Policy.Isolation != ReadCommitted }

// sentinel reports whether a savepoint must show that the transaction is still
// ours: Go code could have ended it. The steps' statements can't, and would pay
// for a subtransaction.
func (t *transaction) sentinel() bool { return t.inv.handler != nil || t.inv.op.runsGo() }

// runStepped claims, runs the steps (or Do's handler) and records, in one
// transaction.
func (s *Service) runStepped(ctx context.Context, c *conn, inv *invocation) (*answer, *failure) {
	t := &transaction{s: s, c: c, inv: inv}
	// Cut off well after the server's own timeouts; the commit never is.
	working, cancel := context.WithDeadline(ctx, inv.deadline.Add(s.grace))
	defer cancel()
	ans, failed := t.perform(working)
	if failed == nil && !ans.replayed {
		failed = t.commit(ctx, ans)
	}
	if c.inTransaction() {
		c.rollback(ctx)
	}
	return ans, failed
}

// afterTimeout is how long after the timeout an operation's locks are held at
// the most, whatever happened to its client.
const afterTimeout = 5 * time.Second

// perform begins, claims and runs. The answer is the record where there is one.
func (t *transaction) perform(ctx context.Context) (*answer, *failure) {
	if err := t.prepare(ctx); err != nil {
		return nil, &failure{err: err, step: unknownStep}
	}
	if ans, failed := t.begin(ctx); ans != nil || failed != nil {
		return ans, failed
	}
	if t.inv.handler != nil {
		return t.runHandler(ctx)
	}
	run := &stepRun{transaction: t}
	return run.all(ctx)
}

// prepare prepares all statements first: outside the transaction, whose locks
// it would hold meanwhile.
func (t *transaction) prepare(ctx context.Context) error {
	queries := t.frame()
	if t.inv.handler == nil {
		for i := range t.inv.op.steps {
			if t.inv.op.steps[i].Go == nil {
				queries = append(queries, t.inv.op.steps[i].query)
			}
		}
	}
	return t.c.prepareAll(ctx, queries...)
}

// begin is the first round trip: transaction, timeouts, lock, record. Where the
// key row comes first and the lock is only tried, there is a second one.
func (t *transaction) begin(ctx context.Context) (*answer, *failure) {
	script := t.opening()
	enter, record := len(script)-1, -1
	if t.inv.keyed() {
		record = len(script)
		script = append(script, t.looks().with(t.inv.identityParams()...))
	}
	// A lock that is only tried may not be ours: the key row must not be touched
	// before that is known, or two that are both refused could stop each other.
	late := t.claims() && t.tries()
	if !late {
		script = append(script, t.claim()...)
	}
	results, err := t.c.send(ctx, script...)
	if record >= 0 && len(results) > record && len(results[record].rows) > 0 && (err == nil || isPgError(err)) {
		if t.inv.op.durable() {
			return t.meet(results[record])
		}
		ans, failed := t.s.read(results[record])
		if failed != nil || !t.inv.passes(ans) {
			return ans, failed
		}
		t.inv.run = ans.attempt + 1
	}
	if err != nil {
		return nil, &failure{err: err, step: unknownStep, claiming: t.inv.keyed() && isLockTimeout(err)}
	}
	if t.inv.keyed() && t.tries() && !isTrue(results[enter].rows[0][lockColumn]) {
		return nil, &failure{err: errNoAnswer, step: unknownStep, claiming: true}
	}
	if late {
		if _, err := t.c.send(ctx, t.claim()...); err != nil {
			return nil, &failure{err: err, step: unknownStep, claiming: isLockTimeout(err)}
		}
	}
	return nil, nil
}

// claim is what comes between the lock and the steps.
func (t *transaction) claim() []statement {
	var script []statement
	if t.claims() {
		script = append(script, claimKey.with(t.inv.claimParams()...), freeLockWaits.with())
	}
	if t.sentinel() {
		script = append(script, setSavepoint.with())
	}
	return script
}

// opening begins the transaction and bounds it: a client that is gone, or a
// server that can't reach it, must not hold the lock for long.
func (t *transaction) opening() []statement {
	policy := &t.inv.op.Policy
	limit := policy.Timeout + t.inv.wait()
	params := [][]byte{[]byte(millis(limit)), []byte(millis(limit + t.s.grace))}
	if t.inv.keyed() {
		params = append(params, strconv.AppendInt(nil, t.inv.lock(), 10))
		if !t.tries() {
			params = append(params, []byte(millis(t.inv.wait())))
		}
	}
	script := []statement{t.begins().with()}
	if t.inv.op.session != nil {
		script = append(script, t.s.sessionStatement(t.inv))
	}
	return append(script, t.enters().with(params...))
}

// tries reports whether the lock is only tried.
func (t *transaction) tries() bool { return t.inv.wait() <= 0 }

// claims reports whether the key row is inserted before the steps. A forced run
// finds one, which it must not touch before it succeeds.
func (t *transaction) claims() bool { return t.inv.keyed() && t.rowFirst() && !t.inv.forced }

// commit is the last round trip, never cancelled: deferred constraints, the
// sentinel, the record and COMMIT, whose tag is checked.
func (t *transaction) commit(ctx context.Context, ans *answer) *failure {
	if t.inv.keyed() {
		return t.commitWith(ctx, t.finish(ans))
	}
	return t.commitWith(ctx)
}

// commitWith is commit with other statements in place of the record.
func (t *transaction) commitWith(ctx context.Context, last ...statement) *failure {
	script := []statement{checkConstraints.with()}
	if t.sentinel() {
		script = append(script, releaseSavepoint.with())
	}
	script = append(script, last...)
	script = append(script, commitAll.with())
	results, err := t.c.send(ctx, script...)
	if err != nil {
		return &failure{err: err, step: unknownStep}
	}
	if tag := results[len(results)-1].tag.String(); tag != "COMMIT" {
		return &failure{err: errors.New("idem: COMMIT was answered with " + tag), step: unknownStep}
	}
	return nil
}

func (t *transaction) finish(ans *answer) statement {
	inv, keep := t.inv, t.inv.op.Policy.Success
	switch {
	case inv.forced:
		return replaceRecord.with(t.s.recordParams(inv, ans, keep)...)
	case t.rowFirst():
		return finishClaim.with(append(t.s.answerParams(inv, ans, keep), inv.identityParams()...)...)
	}
	return finishRecord.with(t.s.recordParams(inv, ans, keep)...)
}
