package idem

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// work is an operation that outlives its first transaction, while this process
// has its lease: a row of idem.work. One goroutine has it.
type work struct {
	s   *Service
	inv *invocation
	// owner and attempt are the fence: who has the lease, the how manieth time it
	// was taken.
	owner   string
	briefly time.Duration // the lease that it was taken with, 0: that of the step
	attempt int
	known   int // the last attempt that this owner has heard of
	saved   int // the next step, as the row has it
	at      int // the next step; ahead of saved where a call's results are not written yet
	tries   int // failed ones since the last progress
	// early: the next try is not due yet, a repetition of the request makes one that
	// does not count.
	early bool
	done  progress
	// undoing: the calls before are taken back, then refusal is the answer.
	undoing bool
	refusal *answer
	// unsure: the one before did not say how the step that it stands at ended.
	unsure bool
	leave  <-chan struct{} // closed: what can wait is left to others; nil: never
}

// progress is what the steps so far have given.
type progress struct {
	results []stepResult
	texts   [][][]byte
	status  int
	headers map[string]string
}

var (
	findWork         = newQuery(gen.FindWork)
	beginWork        = newQuery(gen.BeginWork)
	beginClaimedWork = newQuery(gen.BeginClaimedWork)
	takeWork         = newQuery(gen.TakeWork)
	lockWork         = newQuery(gen.LockWork)
	progressWork     = newQuery(gen.ProgressWork)
	undoWork         = newQuery(gen.UndoWork)
	finishWork       = newQuery(gen.FinishWork)
	parkWork         = newQuery(gen.ParkWork)
	extendWork       = newQuery(gen.ExtendWork)
)

// defaultLease is CallStep.Lease where it is 0, and that of transactions.
const defaultLease = 30 * time.Second

// newWork is an operation that has not begun.
func newWork(s *Service, inv *invocation) *work {
	return &work{s: s, inv: inv, owner: newUUID4()}
}

// fence are the parameters that every write names: scope, digest, owner, attempt
// and the step that the row has.
func (w *work) fence() [][]byte {
	return append(w.inv.identityParams(), []byte(w.owner), number(w.attempt), number(w.saved))
}

// aside sends one statement of its own, fenced, and reports whether it met the
// row. That it did not may also be due to itself, where its answer got lost.
func (w *work) aside(ctx context.Context, st statement) (met bool, err error) {
	results, err := w.inv.pool.writeAside(ctx, st)
	if err != nil {
		return false, err
	}
	return results[0].tag.RowsAffected() > 0, nil
}

// lease is how long the step at which the work stands may take unheard of.
func (w *work) lease() time.Duration {
	if w.at >= 0 && w.at < len(w.inv.op.steps) {
		if call := w.inv.op.steps[w.at].Call; call != nil && call.Lease > 0 {
			return call.Lease
		}
	}
	return defaultLease
}

// shortLease is the shortest lease of the operation's steps: what it is taken with
// before it is known at which of them it stands.
func (op *operation) shortLease() time.Duration {
	shortest := defaultLease
	for i := range op.steps {
		if call := op.steps[i].Call; call != nil && call.Lease > 0 {
			shortest = min(shortest, call.Lease)
		}
	}
	return shortest
}

// shortLease is that of all operations.
func (s *Service) shortLease() time.Duration {
	shortest := defaultLease
	for _, op := range s.operations {
		shortest = min(shortest, op.shortLease())
	}
	return shortest
}

// nextCall is the first call from a step on, or the number of steps.
func (op *operation) nextCall(from int) int {
	for i := from; i < len(op.steps); i++ {
		if op.steps[i].Call != nil {
			return i
		}
	}
	return len(op.steps)
}

func number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

func seconds(d time.Duration) []byte { return fmt.Appendf(nil, "%.6f seconds", d.Seconds()) }
