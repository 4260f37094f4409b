package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// sequentialDuplicates: a request that is sent again has one effect, and the
// bytes of the first answer, whatever process it meets.
func sequentialDuplicates(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	for _, h := range []http.Handler{p.handlers[0], p.handlers[1], p.handlers[0]} {
		if err := t.send(h, t.key).replays(p.op, first); err != nil {
			return err
		}
	}
	return t.happened(1)
}

// otherSpelling: the order of members and white space are not part of a request.
func otherSpelling(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	if t.body == nil {
		return skip("it has no body")
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	t.spell = respell
	if err := t.run().repeats(p.op, first); err != nil {
		return err
	}
	return t.happened(1)
}

// replayFidelity: a replay has the declared headers of the first answer, and
// nothing that was of one connection or one client.
func replayFidelity(p *probe) error {
	if p.op.Tombstone {
		return skip("answers are not kept")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	again := t.run()
	failed := []error{again.sameHeaders(first)}
	for _, name := range []string{"Set-Cookie", "Www-Authenticate", "Authorization"} {
		if value := first.header[name]; len(value) > 0 && slices.Equal(value, again.header[name]) {
			failed = append(failed, fmt.Errorf("header %s is replayed", name))
		}
	}
	stored, err := p.storedHeaders()
	for _, name := range stored {
		if slices.Contains(unreplayable, http.CanonicalHeaderKey(name)) {
			failed = append(failed, fmt.Errorf("header %s is stored", name))
		}
	}
	return errors.Join(append(failed, err, t.happened(1))...)
}

// storedHeaders are the names of the headers of all records.
func (r *rig) storedHeaders() (names []string, err error) {
	err = r.pool.QueryRow(context.Background(), `
SELECT coalesce(array_agg(DISTINCT h.name), '{}')
FROM idem.keys k, LATERAL jsonb_object_keys(coalesce(k.headers, '{}')) AS h(name)`).Scan(&names)
	return names, err
}

// mismatch: a key is for one request; another one, in any declared input, is
// refused.
func mismatch(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	var failed []error
	var unchanged []string
	changed := 0
	for _, in := range p.op.Inputs {
		if in.Keyed {
			continue
		}
		if in.Other == "" {
			unchanged = append(unchanged, in.Name)
			continue
		}
		changed++
		if err := t.changed(in, first); err != nil {
			failed = append(failed, fmt.Errorf("with another %s: %w", in.Name, err))
		}
	}
	if len(unchanged) > 0 {
		p.t.Logf("not checked, for want of another value (Input.Other): %s", strings.Join(unchanged, ", "))
	}
	if err := errors.Join(append(failed, t.happened(1))...); err != nil {
		return err
	}
	if changed == 0 {
		return skip("it has no input that can be changed")
	}
	return nil
}

func (t *trial) changed(in Input, first answer) error {
	other := t.clone()
	if err := other.other(in); err != nil {
		return err
	}
	got := other.send(t.p.handlers[0], t.key)
	if in.Unprinted {
		return got.repeats(t.op, first)
	}
	return got.is(http.StatusUnprocessableEntity, "key-reused")
}
