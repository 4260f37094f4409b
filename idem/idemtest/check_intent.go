package idemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// businessIntent: what an intent protects is not done again under another key.
func businessIntent(p *probe) error {
	if !p.op.Intent {
		return moot("it has no intent")
	}
	if p.op.Async {
		return moot("it is accepted first, and meets its intent later")
	}
	t, first, err := p.done()
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

// otherValues: where what an intent protects is the answer to another key, that
// is so for a request with the same values only.
func otherValues(p *probe) error {
	if !p.op.Returns {
		return moot("no existing resource is its answer")
	}
	if p.op.Async {
		return moot("it is accepted first, and meets its intent later")
	}
	t, first, err := p.done()
	if err != nil {
		return err
	}
	told := false
	for _, in := range p.op.Inputs {
		if in.Other == "" || in.Keyed || in.Fresh {
			continue // a value that was not used before belongs to an intent of its own
		}
		refused, err := t.refusesOther(in, first)
		if err != nil {
			return fmt.Errorf("another key, with the same intent and another %s: %w", in.Name, err)
		}
		told = told || refused
	}
	if !told {
		return skip("it has no input whose other value (Input.Other) meets the row of the intent")
	}
	return t.run().repeats(p.op, first)
}

// refusesOther sends the request with another value of an input under another
// key, and reports whether it met the row of the intent: the input may be part
// of the intent, or decide something else.
func (t *trial) refusesOther(in Input, first answer) (bool, error) {
	other := t.clone()
	if err := other.other(in); err != nil {
		return false, err
	}
	before, err := t.p.effects()
	if err != nil {
		return false, err
	}
	got := other.send(t.p.handlers[1], newKey())
	after, err := t.p.effects()
	if err != nil {
		return false, err
	}
	switch {
	case got.is(codeIntent) == nil && after != before:
		return true, fmt.Errorf("%s, but it has taken effect", got)
	case got.is(codeIntent) == nil:
		return true, nil
	case got.status != first.status || after != before:
		return false, nil // refused for another reason, or another intent
	}
	stored, err := t.p.stores(in)
	if err == nil && stored {
		err = fmt.Errorf("the answer is the existing row, which has another value: %s", got)
	}
	return false, err
}

// stores reports whether a column keeps the other value of an input as it is.
func (p *probe) stores(in Input) (bool, error) {
	t, err := p.trial()
	if err == nil {
		err = t.other(in)
	}
	if err != nil {
		return false, err
	}
	before, err := p.cells(in.Other)
	if err != nil {
		return false, err
	}
	if got := t.run(); !got.success() {
		return false, nil
	}
	after, err := p.cells(in.Other)
	return after > before, err
}

// cells counts the columns of all rows of Writes that have a value.
func (p *probe) cells(value string) (sum int64, err error) {
	values := []string{string(marshal(value))}
	if json.Valid([]byte(value)) {
		values = append(values, value)
	}
	for _, table := range p.op.Writes {
		var n int64
		err := p.pool.QueryRow(context.Background(), "SELECT count(*) FROM "+sanitize(table)+
			" AS t, jsonb_each(to_jsonb(t)) AS c WHERE c.value = ANY ($1::text[]::jsonb[])", values).Scan(&n)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
