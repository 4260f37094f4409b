package idemtest

import (
	"context"
	"errors"
	"fmt"
)

const forceHeader = "X-Force-Retry"

// forcedRetry: where the policy allows it, a forced request runs again and
// replaces the record; one that fails leaves the old record. Elsewhere it does
// not run.
func forcedRetry(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	if !p.op.Forces {
		got := t.force()
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
	return t.forced()
}

// force sends the request as a forced one.
func (t *trial) force() answer {
	r := t.request(context.Background(), t.key)
	r.Header.Set(forceHeader, "true")
	return t.by.serve(t.p.handlers[0], r)
}

// failingForce lets a forced request fail: it is as if it had not been sent.
func (t *trial) failingForce(first answer) error {
	if err := t.p.fault("statement"); err != nil {
		return err
	}
	got := t.force()
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
func (t *trial) forced() error {
	got := t.force()
	if got.status >= 500 || got.inFlight() || got.replayed() {
		return fmt.Errorf("a forced request is answered with %s, header %s: %q", got, t.by.marker, got.marker())
	}
	ran := int64(1)
	if got.success() {
		ran = 2
	}
	if err := t.happened(ran); err != nil {
		return fmt.Errorf("after a forced request: %w", err)
	}
	again := t.run()
	if err := errors.Join(again.replays(t.op, got), t.happened(ran)); err != nil {
		return fmt.Errorf("a plain request after a forced one: %w", err)
	}
	return nil
}
