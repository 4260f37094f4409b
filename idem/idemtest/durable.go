package idemtest

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// durable: the operation outlives its first transaction, so that work may be left
// in idem.work when its answer is there.
func (o *Operation) durable() bool { return o.Async || o.Calls }

// asAnswered is the operation as its requests are answered: one that is done later
// is accepted, whatever becomes of it, and its answer is always kept.
func (o Operation) asAnswered() *Operation {
	if o.Async {
		o.Tombstone, o.Rejects = false, false
	}
	return &o
}

// settle returns when all work that was begun is done.
func (p *probe) settle() error {
	if !p.op.durable() {
		return nil
	}
	return p.await("an operation is still unfinished: does Kit.Handler run the service in the background (Run)?",
		"SELECT NOT EXISTS (SELECT FROM idem.work WHERE due_at IS NOT NULL AND NOT held)")
}

// recovers judges an operation that outlives its first transaction and met a fault
// that has passed: it has one effect in the end, and the answer is there.
func (t *trial) recovers(got answer) error {
	if !t.op.Async && got.status != http.StatusInternalServerError && got.status != http.StatusServiceUnavailable {
		return fmt.Errorf("the database failed, but the answer is %s", got)
	}
	deadline := time.Now().Add(t.p.kit.Patience)
	again := t.run()
	for !again.success() && !t.toldDone(again) && time.Now().Before(deadline) {
		if err := t.p.quiesce(); err != nil {
			return err
		}
		again = t.run()
	}
	if !again.success() && !t.toldDone(again) {
		return fmt.Errorf("the fault has passed, but the retry is answered with %s", again)
	}
	return errors.Join(t.happened(1), t.run().repeats(t.op, again))
}

// toldDone: it was done, and its answer was not kept.
func (t *trial) toldDone(got answer) bool { return t.op.Tombstone && got.is(codeNotStored) == nil }
