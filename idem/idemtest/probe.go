package idemtest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
)

// probe checks one operation.
type probe struct {
	*rig
	t  testing.TB
	op *Operation
	// each is the number of effects of one request.
	each  int64
	notes *notes
}

// check runs one check for a test.
func (p *probe) check(t testing.TB, c check, n *notes) error {
	of := *p
	of.t, of.notes = t, n
	if err := of.quiesce(); err != nil {
		return err
	}
	if c.sendsKeys && p.op.Key == KeyDerived {
		return moot("the key is made of other inputs")
	}
	err := c.run(&of)
	if c.name == unkeyedCheck {
		err = p.kit.excused(p.op, err)
	}
	return err
}

// subject is a request of a caller that was not sent before. Refused: fixtures
// may make it one that gets a declared client error.
func (p *probe) subject(caller string, refused bool) (*subject, error) {
	s, err := newSubject(p.op, p.by, p.caller(caller))
	if err != nil {
		return nil, err
	}
	n := p.subjects.Add(1)
	for _, in := range p.op.Inputs {
		if !in.Fresh {
			continue
		}
		value, err := fresh(in, s.get(in.Name), n)
		if err == nil {
			err = s.set(in.Name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", p.op.Name, err)
		}
	}
	if p.kit.Fixtures != nil {
		p.kit.Fixtures(p.t, &Fixture{Operation: p.op.Name, Caller: caller, N: n, Refused: refused, Pool: p.pool, t: p.t, s: s, p: p})
	}
	return s, nil
}

// effects is the number of effects so far.
func (p *probe) effects() (n int64, err error) {
	ctx := context.Background()
	if err := p.settle(); err != nil {
		return 0, err
	}
	if p.op.Count != nil {
		return p.op.Count(ctx, p.pool)
	}
	names := make([]string, len(p.op.Writes))
	for i, table := range p.op.Writes {
		names[i] = sanitize(table)
	}
	// A partition's changes count for the table that it is of.
	err = p.pool.QueryRow(ctx, `
WITH RECURSIVE watched AS (
  SELECT name::regclass::oid AS relation FROM unnest($1::text[]) AS name
  UNION
  SELECT i.inhrelid FROM watched w JOIN pg_inherits i ON i.inhparent = w.relation
)
SELECT count(*) FROM idemtest.effects e WHERE e.relation IN (SELECT w.relation FROM watched w)`, names).Scan(&n)
	return n, err
}

// trial is a fresh request and what there was before it.
type trial struct {
	*subject
	p                *probe
	key              string
	effects, records int64
}

func (p *probe) trial() (*trial, error) {
	s, err := p.subject("a", false)
	if err != nil {
		return nil, err
	}
	return p.trialOf(s)
}

func (p *probe) trialOf(s *subject) (t *trial, err error) {
	t = &trial{subject: s, p: p, key: newKey()}
	if t.effects, err = p.effects(); err != nil {
		return nil, err
	}
	t.records, err = p.records()
	return t, err
}

// run sends the request to the first instance.
func (t *trial) run() answer { return t.send(t.p.handlers[0], t.key) }

// first sends the request, which must succeed and be no replay.
func (t *trial) first() (answer, error) {
	got := t.run()
	if !got.success() {
		return got, fmt.Errorf("the first request is answered with %s", got)
	}
	if got.replayed() {
		return got, fmt.Errorf("the first request is answered as a replay: %s", got)
	}
	return got, t.happened(1)
}

// done is a trial whose request has succeeded, and its answer.
func (p *probe) done() (*trial, answer, error) {
	t, err := p.trial()
	if err != nil {
		return nil, answer{}, err
	}
	first, err := t.first()
	return t, first, err
}

// happened says whether the effects since the trial began are those of n requests.
func (t *trial) happened(n int64) error {
	now, err := t.p.effects()
	if err != nil {
		return err
	}
	if got := now - t.effects; got != n*t.p.each {
		return fmt.Errorf("the operation has taken effect %s times, want %d", ratio(got, t.p.each), n)
	}
	return nil
}

func ratio(got, each int64) string {
	if got%each == 0 {
		return strconv.FormatInt(got/each, 10)
	}
	return fmt.Sprintf("%d/%d", got, each)
}

// untouched says whether neither effect nor record was left.
func (t *trial) untouched() error {
	if err := t.happened(0); err != nil {
		return err
	}
	return t.unrecorded()
}

// unrecorded says whether no key was left.
func (t *trial) unrecorded() error {
	now, err := t.p.records()
	if err == nil && now != t.records {
		return fmt.Errorf("%d keys were left in idem.keys", now-t.records)
	}
	return err
}

// caller makes requests those of a caller.
func (p *probe) caller(name string) func(*http.Request) {
	return func(r *http.Request) { p.as(r, name) }
}
