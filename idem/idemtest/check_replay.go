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
	t, first, err := p.done()
	if err != nil {
		return err
	}
	if err := first.marked(p.by.ran); err != nil {
		return fmt.Errorf("the first answer: %w", err)
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
		return moot("it has no body")
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
	t, first, err := p.done()
	if err != nil {
		return err
	}
	again := t.run()
	failed := []error{p.bodyKept(first)}
	if !p.op.Tombstone {
		failed = append(failed, again.sameHeaders(first))
	} else if was, is := first.header.Get("Location"), again.header.Get("Location"); was != is {
		failed = append(failed, fmt.Errorf("an answer that was not kept has Location %q, but first %q", is, was))
	}
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

// bodyKept says whether the newest record has a body that it should not have:
// one that is not to be kept, or is to be sealed.
func (p *probe) bodyKept(first answer) error {
	if !p.op.Tombstone && !p.op.Sealed || len(first.body) == 0 {
		return nil
	}
	var kept string
	err := p.pool.QueryRow(context.Background(), "SELECT coalesce(body, '') FROM idem.keys ORDER BY created_at DESC LIMIT 1").Scan(&kept)
	switch {
	case err != nil:
		return err
	case p.op.Tombstone && kept != "":
		return errors.New("the body of the answer is stored, which is not to be kept")
	case strings.Contains(kept, string(first.body)):
		return errors.New("the body of the answer can be read in the table: it is not sealed")
	}
	return nil
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
	t, first, err := p.done()
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
		p.notes.add("for want of another value (Input.Other) without " + strings.Join(unchanged, ", "))
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
	return errors.Join(got.is(codeReused), got.conceals(t.get(in.Name), other.get(in.Name)))
}

// conceals says whether an answer shows a value of a request: the recorded
// request may be somebody else's. Short values may stand in it by chance.
func (a answer) conceals(values ...string) error {
	for _, value := range values {
		if len(value) >= 5 && strings.Contains(string(a.body), value) {
			return fmt.Errorf("the refusal shows the value %q", value)
		}
	}
	return nil
}
