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
		return skip("no key has to be sent")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	if err := t.send(p.handlers[0], "").is(http.StatusBadRequest, "key-missing"); err != nil {
		return err
	}
	return t.untouched()
}

// malformed are header lines that hold no key; semantics.md section 3.
var malformed = [][]string{
	{""}, {" "}, {`""`}, {strings.Repeat("k", 256)}, {"a b"}, {"a\x01b"}, {"a\x7f"}, {"a\x00"}, {"ключ"}, {"\xff\xfe"},
	{"a,b"}, {`a"b`}, {`a\b`}, {`"abc`}, {`abc"`}, {`"a"b`}, {`"a\c"`}, {"one", "two"}, {"same", "same"},
}

// malformedKeys: a key that can't be read is refused, and not echoed.
func malformedKeys(p *probe) error {
	if p.op.Key == KeyDerived {
		return skip("the key is made from other inputs")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	var failed []error
	for _, lines := range malformed {
		got := t.sendLines(lines)
		if err := got.is(http.StatusBadRequest, "key-invalid"); err != nil {
			failed = append(failed, fmt.Errorf("key %q: %w", lines, err))
		} else if echo := got.header.Get(keyHeader); echo != "" {
			failed = append(failed, fmt.Errorf("key %q is echoed: %q", lines, echo))
		}
	}
	if failed != nil {
		return errors.Join(failed...)
	}
	if err := t.untouched(); err != nil {
		return err
	}
	return readableKeys(p)
}

// sendLines sends header lines as they are, an empty one too.
func (t *trial) sendLines(lines []string) answer {
	of := *t.subject
	of.as = func(r *http.Request) {
		r.Header[keyHeader] = lines
		t.as(r)
	}
	return of.send(t.p.handlers[0], "")
}

// readableKeys: the longest key, and the same key bare, quoted and with a parameter.
func readableKeys(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	t.key += strings.Repeat("~", 255-len(t.key))
	first, err := t.first()
	if err != nil {
		return fmt.Errorf("a key of 255 characters: %w", err)
	}
	for _, line := range []string{`"` + t.key + `"`, `"` + t.key + `"; try=2`} {
		if err := t.send(p.handlers[0], line).repeats(p.op, first); err != nil {
			return fmt.Errorf("the same key as %q: %w", line, err)
		}
	}
	return t.happened(1)
}
