package idemtest

import (
	"bytes"
	"errors"
	"fmt"
)

// scopeIsolation: another caller with the same key and the same request gets an
// execution of its own.
func scopeIsolation(p *probe) error {
	if p.kit.OneScope {
		return moot("all callers have one scope")
	}
	t, first, err := p.done()
	if err != nil {
		return err
	}
	stranger := t.clone()
	stranger.as = p.caller("b")
	got := stranger.send(p.handlers[0], t.key)
	if err := independent(got); err != nil {
		return fmt.Errorf("the same request of another caller: %w", err)
	}
	ran := int64(1)
	switch {
	case p.op.Async && bytes.Equal(got.body, first.body):
		return fmt.Errorf("two callers have one event: %s", got)
	case p.op.Async: // whether the other's is refused, rows decide later
		if ran, err = t.runs(); err != nil {
			return err
		}
	case got.success():
		ran = 2
	}
	return errors.Join(t.happened(ran), t.run().repeats(p.op, first), t.happened(ran))
}

// runs is how often the operation has taken effect, of two that were accepted.
func (t *trial) runs() (int64, error) {
	now, err := t.p.effects()
	if err == nil && now-t.effects >= 2*t.p.each {
		return 2, nil
	}
	return 1, err
}

// slotPoisoning: who uses a key first in another scope has no influence.
func slotPoisoning(p *probe) error {
	if p.kit.OneScope {
		return moot("all callers have one scope")
	}
	stranger, err := p.subject("b", false)
	if err != nil {
		return err
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	poison := stranger.send(p.handlers[0], t.key)
	if !poison.success() {
		return fmt.Errorf("caller b is answered with %s", poison)
	}
	if t.effects, err = p.effects(); err != nil {
		return err
	}
	got := t.run()
	if err := independent(got); err != nil {
		return err
	}
	if !got.success() {
		return fmt.Errorf("caller a is answered with %s", got)
	}
	return errors.Join(t.happened(1), t.run().repeats(p.op, got))
}

// independent says whether an answer owes something to another caller's key.
func independent(got answer) error {
	switch {
	case got.replayed():
		return fmt.Errorf("it is a replay of another caller's answer: %s", got)
	case got.code() == codeReused || got.inFlight() || got.status >= 500:
		return fmt.Errorf("it is answered with %s", got)
	}
	return nil
}
