package idemtest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// missingKey: without a key nothing runs, where one is required.
func missingKey(p *probe) error {
	if p.op.Key != KeyRequired {
		return moot("no key has to be sent")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	if err := t.send(p.handlers[0], "").is(codeMissing); err != nil {
		return err
	}
	return t.untouched()
}

// malformedKeys: a key that can't be read is refused, and not echoed.
func malformedKeys(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	var failed []error
	if guessable := strings.Repeat("k", 21); p.kit.OneScope {
		if err := t.send(p.handlers[0], guessable).is(codeInvalid); err != nil {
			failed = append(failed, fmt.Errorf("key %q, which could be guessed: %w", guessable, err))
		}
	}
	for _, lines := range p.by.malformed {
		got := t.sendLines(lines)
		if err := got.is(codeInvalid); err != nil {
			failed = append(failed, fmt.Errorf("key %q: %w", lines, err))
		} else if echo := got.header.Get(p.by.keyHeader); echo != "" {
			failed = append(failed, fmt.Errorf("key %q is echoed: %q", lines, echo))
		}
	}
	if failed != nil {
		return errors.Join(failed...)
	}
	return t.untouched()
}

// sendLines sends header lines as they are, an empty one too.
func (t *trial) sendLines(lines []string) answer {
	of := *t.subject
	of.as = func(r *http.Request) {
		r.Header[t.by.keyHeader] = lines
		t.as(r)
	}
	return of.send(t.p.handlers[0], "")
}

// spellingsOfKey: the longest key; the same key bare, quoted and with a parameter.
func spellingsOfKey(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	t.key += strings.Repeat(".", p.by.longest-len(t.key))
	first, err := t.first()
	if err != nil {
		return fmt.Errorf("a key of %d characters: %w", p.by.longest, err)
	}
	lines := []string{t.key}
	if p.by.quotes {
		lines = append(lines, `"`+t.key+`"`, `"`+t.key+`"; try=2`)
	}
	for _, line := range lines {
		if err := t.send(p.handlers[0], line).repeats(p.op, first); err != nil {
			return fmt.Errorf("the same key as %q: %w", line, err)
		}
	}
	return errors.Join(t.happened(1), p.longKeys(t.key))
}

// longKeys: a key that differs from a long one in its last character is another.
func (p *probe) longKeys(used string) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	t.key = used[:len(used)-1] + "_"
	if _, err := t.first(); err != nil {
		return fmt.Errorf("a key that differs from a used one in its last character: %w", err)
	}
	return nil
}

// echoOfKey: every answer to a valid key tells it, so that logs of both sides
// can be matched.
func echoOfKey(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	line := t.key
	if p.by.quotes {
		t.key += `-a,b-"c"-\d`
		line = p.by.echoOf(t.key) // these characters stand in the quoted form only
	}
	first := t.send(p.handlers[0], line)
	if !first.success() {
		return fmt.Errorf("key %s is answered with %s", line, first)
	}
	var failed []error
	for what, got := range map[string]answer{"the first answer": first, "a replay": t.send(p.handlers[1], line)} {
		if echo := got.header.Get(p.by.keyHeader); echo != p.by.echoOf(t.key) {
			failed = append(failed, fmt.Errorf("%s to key %s has %s: %q", what, line, p.by.keyHeader, echo))
		}
	}
	return errors.Join(append(failed, t.happened(1))...)
}
