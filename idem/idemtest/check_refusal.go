package idemtest

import (
	"errors"
	"fmt"
	"time"
)

// recordedRefusal: a client error that the operation declares is recorded for
// its time, without an effect, and replayed.
func recordedRefusal(p *probe) error {
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
	if err := errors.Join(again.same(got), again.marked(p.by.replay), t.happened(0)); err != nil {
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
	if err := t.happened(0); err != nil {
		return fmt.Errorf("%s: %w", got, err)
	}
	now, err := t.p.records()
	if err == nil && now != t.records+1 {
		return fmt.Errorf("%s has left %d records, want 1. Refusals of a request's form come before the claim and leave none: "+
			"where Fixture.Refused is set, Fixtures must make one that rows decide", got, now-t.records)
	}
	return err
}

func (p *probe) refusalKept(before, after time.Time) error {
	keep := p.op.Kept.ClientError
	if keep == 0 {
		p.notes.add("it is not known how long a client error is kept (Operation.Kept)")
		return nil
	}
	at, err := p.lastExpiry()
	if err == nil && (at.Before(before.Add(keep)) || at.After(after.Add(keep))) {
		return fmt.Errorf("the record of a client error expires after %s, want %s", at.Sub(after).Round(time.Second), keep)
	}
	return err
}

// businessIntent: what an intent protects is not done again under another key.
func businessIntent(p *probe) error {
	switch {
	case !p.op.Intent:
		return moot("it has no intent")
	case p.op.Key == KeyDerived:
		return moot("the key is made of other inputs")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	got := t.send(p.handlers[1], newKey())
	if p.op.Returns {
		if got.status != first.status {
			err = fmt.Errorf("another key with the same intent is answered with %s, but the first answer was %s", got, first)
		}
		err = errors.Join(err, got.marked(p.by.replay))
	} else {
		err = got.is(codeIntent)
	}
	return errors.Join(err, t.happened(1), t.run().repeats(p.op, first))
}
