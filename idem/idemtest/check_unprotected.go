package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// unprotected: where a key is optional, a request without one runs, and leaves
// no record.
func unprotected(p *probe) error {
	if p.op.Key == KeyRequired {
		return moot("a key is required")
	}
	if p.op.durable() {
		return moot("a request without a key has one made for it, by which it is continued")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	got := t.send(p.handlers[0], "")
	if !got.success() {
		return fmt.Errorf("a request without a key is answered with %s", got)
	}
	if err := errors.Join(got.marked(""), t.happened(1)); err != nil {
		return err
	}
	if again := t.send(p.handlers[0], ""); again.status >= 500 {
		return fmt.Errorf("its repetition is answered with %s", again)
	}
	return t.unrecorded()
}

// nothingRecorded: an operation without a key takes no notice of one, be it
// malformed; each request runs.
func nothingRecorded(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	methods := []string{p.op.Method}
	if p.op.Method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	answered := false
	var first answer
	for _, method := range methods {
		for _, key := range []string{t.key, t.key, "not a key"} {
			r := t.request(context.Background(), key)
			r.Method = method
			got := t.by.serve(p.handlers[0], r)
			if got.status >= 500 {
				return fmt.Errorf("%s is answered with %s", method, got)
			}
			if err := got.marked(""); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			answered = answered || got.success()
			if first.status == 0 {
				first = got
			}
		}
	}
	if err := t.unrecorded(); err != nil || answered {
		return err
	}
	return p.refuses(t.subject, first)
}
