package idemtest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"
)

const adviceHeader = "X-Should-Retry"

// whetherToRetry: every answer above 399 says whether it helps to send the
// request again, and one that says so says when.
func whetherToRetry(p *probe) error {
	a := &advice{probe: p}
	for _, provoke := range []func() error{a.refusedKeys, a.reused, a.declared, a.failures, a.inFlight} {
		if err := provoke(); err != nil {
			return err
		}
	}
	if a.heard == 0 {
		return skip("no answer above 399 could be had")
	}
	return errors.Join(a.wrong...)
}

// advice collects what answers say.
type advice struct {
	*probe
	heard int
	wrong []error
}

// hear judges an answer; a success says nothing.
func (a *advice) hear(what string, got answer) {
	if got.status < 400 && !got.inFlight() {
		return
	}
	a.heard++
	if err := got.advises(a.op.Kept.ServerError > 0); err != nil {
		a.wrong = append(a.wrong, fmt.Errorf("%s: %w", what, err))
	}
}

// advises says what is wrong with an answer's advice. Kept: server errors are
// recorded. About one that is not, nothing is known, nor about 429: these need
// not say anything.
func (a answer) advises(kept bool) error {
	again, after := a.header.Get(adviceHeader), a.header.Get("Retry-After")
	seconds, err := strconv.Atoi(after)
	soon := a.inFlight() || a.status == http.StatusServiceUnavailable
	open := a.status == http.StatusTooManyRequests || a.status >= 500 && !kept
	want := ""
	switch {
	case soon && (again != "true" || err != nil || seconds < 1):
		want = "true and Retry-After in whole seconds"
	case !soon && open && again == "false":
		want = "no false, since nothing is known"
	case !soon && !open && (again != "false" || after != ""):
		want = "false and no Retry-After"
	default:
		return nil
	}
	return fmt.Errorf("%s has %s %q and Retry-After %q, want %s", a, adviceHeader, again, after, want)
}

// refusedKeys are refusals before the key is looked up.
func (a *advice) refusedKeys() error {
	if a.op.Key == KeyDerived {
		return nil
	}
	t, err := a.trial()
	if err != nil {
		return err
	}
	a.hear("a malformed key", t.sendLines(a.by.malformed[0]))
	if a.op.Key == KeyRequired {
		a.hear("no key", t.send(a.handlers[0], ""))
	}
	return nil
}

// reused is a key that has a record already: of another request, of an answer
// that was not kept.
func (a *advice) reused() error {
	t, _, err := a.done()
	if err != nil {
		return err
	}
	a.hear("a duplicate", t.run())
	for _, in := range a.op.Inputs {
		if in.Keyed || in.Unprinted || in.Other == "" {
			continue
		}
		other := t.clone()
		if err := other.other(in); err != nil {
			return err
		}
		a.hear("a mismatch", other.send(a.handlers[0], t.key))
		break
	}
	if a.op.Intent && a.op.Key != KeyDerived {
		a.hear("another key with the same intent", t.send(a.handlers[0], newKey()))
	}
	return nil
}

// declared is a client error that the operation declares, and its replay.
func (a *advice) declared() error {
	t, err := a.refusal()
	if err != nil {
		return err
	}
	a.hear("a client error", t.run())
	a.hear("its replay", t.run())
	return nil
}

// failures are answers of a database that fails: once and for all, or with 40001
// each time.
func (a *advice) failures() error {
	if len(a.op.Writes) == 0 {
		return nil // failingStatement says so
	}
	for _, fault := range []string{"statement", "serializations"} {
		t, err := a.trial()
		if err != nil {
			return err
		}
		got, err := t.withFault(fault)
		if err != nil {
			return err
		}
		a.hear("a failure of the database", got)
		if a.op.Kept.ServerError > 0 {
			a.hear("the retry after a failure", t.run())
		}
	}
	return nil
}

// inFlight is a copy of a request that is held. One that is to wait is answered
// when its wait ends.
func (a *advice) inFlight() error {
	switch {
	case len(a.op.Writes) == 0:
		return nil // disconnect says so
	case !a.op.Rejects && testing.Short():
		a.notes.add("with -short, copies are not waited for until they give up")
		return nil
	}
	t, err := a.trial()
	if err != nil {
		return err
	}
	release, err := a.hold(a.op.Writes[0])
	if err != nil {
		return err
	}
	held, twin := make(chan answer, 1), make(chan answer, 1)
	go func() { held <- t.run() }()
	if err = a.awaitBlocked(); err == nil {
		go func() { twin <- t.run() }()
		a.giveUp(twin)
	} else {
		twin <- answer{by: a.by}
	}
	release()
	<-held
	<-twin
	return errors.Join(err, a.quiesce())
}

// giveUp hears a copy that does not wait any longer.
func (a *advice) giveUp(twin chan answer) {
	patience := a.longestWait
	if a.op.Rejects {
		patience = a.kit.Patience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case got := <-twin:
		a.hear("a copy of a running request", got)
		twin <- got
	case <-timer.C:
		a.notes.add(fmt.Sprintf("a copy of a running request waits for more than %s", patience))
	}
}
