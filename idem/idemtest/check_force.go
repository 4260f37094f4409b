package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

const forceHeader = "X-Force-Retry"

// forcedRetry: where the policy allows it, a forced request runs again and
// replaces the record; one that fails leaves the old record. Elsewhere it does
// not run.
func forcedRetry(p *probe) error {
	t, first, err := p.done()
	if err != nil {
		return err
	}
	if !p.op.Forces {
		got := t.force(p.handlers[0])
		if got.status >= 500 {
			return fmt.Errorf("a forced request is answered with %s", got)
		}
		return errors.Join(t.happened(1), t.run().repeats(p.op, first))
	}
	if len(p.op.Writes) > 0 {
		if err := t.failingForce(first); err != nil {
			return err
		}
	}
	return t.forced(first)
}

// force sends the request as a forced one.
func (t *trial) force(h http.Handler) answer {
	r := t.request(context.Background(), t.key)
	r.Header.Set(forceHeader, "true")
	return t.by.serve(h, r)
}

// failingForce lets a forced request fail: it is as if it had not been sent.
func (t *trial) failingForce(first answer) error {
	if err := t.p.fault("statement"); err != nil {
		return err
	}
	got := t.force(t.p.handlers[0])
	if err := errors.Join(t.p.fault(""), t.p.quiesce()); err != nil {
		return err
	}
	if got.status < 500 {
		return fmt.Errorf("the database failed, but a forced request is answered with %s", got)
	}
	if err := errors.Join(t.happened(1), t.run().repeats(t.op, first)); err != nil {
		return fmt.Errorf("after a forced request that failed: %w", err)
	}
	return nil
}

// forced sends a forced request and then a plain one.
func (t *trial) forced(first answer) error {
	return t.replaced(first, t.force(t.p.handlers[0]))
}

// replaced judges the answers to forced requests, in the order in which they ran:
// each that succeeded has had its effect, and the last of them is the record.
func (t *trial) replaced(record answer, forced ...answer) error {
	ran := int64(1)
	for _, got := range forced {
		if got.status >= 500 || got.inFlight() || got.replayed() {
			return fmt.Errorf("a forced request is answered with %s, header %s: %q", got, t.by.marker, got.marker())
		}
		if got.success() {
			record, ran = got, ran+1
		}
	}
	if err := t.happened(ran); err != nil {
		return fmt.Errorf("after a forced request: %w", err)
	}
	if err := errors.Join(t.run().replays(t.op, record), t.happened(ran)); err != nil {
		return fmt.Errorf("a plain request after a forced one: %w", err)
	}
	return nil
}
