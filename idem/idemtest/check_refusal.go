package idemtest

import (
	"errors"
	"fmt"
	"time"
)

// recordedRefusal: a client error that the operation declares is recorded for
// its time, without an effect, and replayed.
func recordedRefusal(p *probe) error {
	if p.op.Async {
		return moot("it is accepted first, and refused later")
	}
	t, err := p.refusal()
	if err != nil {
		return err
	}
	if t.records, err = p.records(); err != nil {
		return err
	}
	before, err := p.now()
	if err != nil {
		return err
	}
	got := t.run()
	if !got.definite() {
		return skip("it answers no client error: make one in Fixtures, where Fixture.Refused is set")
	}
	after, err := p.now()
	if err != nil {
		return err
	}
	if err := t.recordedOnce(got); err != nil {
		return err
	}
	if err := p.refusalKept(before, after); err != nil {
		return err
	}
	again := t.run()
	if err := errors.Join(again.same(got), again.marked(p.by.replay), t.refusedWithout()); err != nil {
		return fmt.Errorf("the retry: %w", err)
	}
	return nil
}

// refusal is a request that is about to be refused: by what Fixtures set, or
// since the same request was done under another key.
func (p *probe) refusal() (*trial, error) {
	s, err := p.subject("a", true)
	if err != nil {
		return nil, err
	}
	t, err := p.trialOf(s)
	if err != nil || p.op.Key == KeyDerived {
		return t, err
	}
	rehearsal := t.run()
	if !rehearsal.success() && !rehearsal.definite() {
		return nil, fmt.Errorf("the first request is answered with %s", rehearsal)
	}
	t.key = newKey()
	t.effects, err = p.effects()
	return t, err
}

// recordedOnce says whether a refusal left a record and nothing else.
func (t *trial) recordedOnce(got answer) error {
	if err := t.refusedWithout(); err != nil {
		return fmt.Errorf("%s: %w", got, err)
	}
	now, err := t.p.records()
	if err == nil && now != t.records+1 {
		return fmt.Errorf("%s has left %d records, want 1. Refusals of a request's form come before the claim and leave none: "+
			"where Fixture.Refused is set, Fixtures must make one that rows decide", got, now-t.records)
	}
	return err
}

// refusedWithout says whether the refusal has an effect. What an operation has
// committed before a call stays.
func (t *trial) refusedWithout() error {
	if t.op.Calls {
		return nil
	}
	return t.happened(0)
}

func (p *probe) refusalKept(before, after time.Time) error {
	if p.op.Kept.ClientError == 0 {
		p.notes.add("it is not known how long a client error is kept (Operation.Kept)")
		return nil
	}
	if err := p.keptWithin(p.op.Kept.ClientError, before, after); err != nil {
		return fmt.Errorf("a client error: %w", err)
	}
	return nil
}
