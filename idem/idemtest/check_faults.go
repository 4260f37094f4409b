package idemtest

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// failingStatement: an error in the operation's own SQL leaves neither an
// effect nor a record, and the retry runs.
func failingStatement(p *probe) error { return p.failing("statement") }

// failingRecord: an answer that can't be recorded has no effect.
func failingRecord(p *probe) error { return p.failing("record") }

// failingCommit: what is not committed has not happened, whatever its
// statements answered.
func failingCommit(p *probe) error {
	for _, table := range p.op.Writes {
		if err := p.deferred[table]; err != nil {
			return skip(fmt.Sprintf("a trigger on %s that fails at the commit can't be made: %v", table, err))
		}
	}
	return p.failing("commit")
}

func (p *probe) failing(fault string) error {
	if len(p.op.Writes) == 0 && fault != "record" {
		return skip("there is no table to fail: set Writes")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	before, err := p.now()
	if err != nil {
		return err
	}
	got, err := t.withFault(fault)
	if err != nil {
		return err
	}
	if p.op.durable() {
		if p.op.Kept.ServerError > 0 && got.status == http.StatusInternalServerError && got.header.Get("X-Should-Retry") == "false" {
			return t.recordedFault(got, before) // before the first commit it is a request like any other
		}
		return t.recovers(got)
	}
	if got.status != http.StatusInternalServerError && got.status != http.StatusServiceUnavailable {
		return fmt.Errorf("the database failed, but the answer is %s", got)
	}
	if p.op.Kept.ServerError > 0 && fault != "record" {
		return t.recordedFault(got, before)
	}
	if err := t.untouched(); err != nil {
		return err
	}
	if _, err := t.first(); err != nil {
		return fmt.Errorf("the retry: %w", err)
	}
	return nil
}

// recordedFault judges an answer of status 500 that is to be kept: without an
// effect, it is replayed until it expires. Before is when it had not been asked
// for.
func (t *trial) recordedFault(got answer, before time.Time) error {
	if got.status != http.StatusInternalServerError {
		return fmt.Errorf("the database failed, but the answer is %s", got)
	}
	again := t.run()
	if err := errors.Join(again.same(got), again.marked(t.by.replay), t.happened(0)); err != nil {
		return fmt.Errorf("the retry of a recorded error: %w", err)
	}
	after, err := t.p.now()
	if err != nil {
		return err
	}
	if err := t.p.keptWithin(t.op.Kept.ServerError, before, after); err != nil {
		return fmt.Errorf("a server error: %w", err)
	}
	if err := t.p.expire(); err != nil {
		return err
	}
	if _, err := t.first(); err != nil {
		return fmt.Errorf("after the record of an error has expired: %w", err)
	}
	return nil
}

// withFault sends the request while the database fails in a way.
func (t *trial) withFault(kind string) (answer, error) {
	if err := t.p.fault(kind); err != nil {
		return answer{}, err
	}
	got := t.run()
	return got, errors.Join(t.p.fault(""), t.p.quiesce())
}

// serializationFailure: SQLSTATE 40001 is the database's word for "again".
func serializationFailure(p *probe) error {
	if len(p.op.Writes) == 0 {
		return skip("there is no table to fail: set Writes")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	got, err := t.withFault("serialization")
	if err != nil {
		return err
	}
	return t.settled(got)
}

// lostRequest: the connection to the database is lost before it is asked.
func lostRequest(p *probe) error { return p.losing(CutBefore) }

// lostAnswer: the connection is lost when the transaction is committed and its
// answer on the way.
func lostAnswer(p *probe) error { return p.losing(CutAnswer) }

func (p *probe) losing(at CutPoint) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	text := t.key
	if p.op.Key == KeyDerived {
		text = ""
	}
	p.cut.Arm(at, text)
	got := t.run()
	if !p.cut.Disarm() {
		return skip("the key was not seen on its way to the database: the connection is encrypted, or not of the kit's pool")
	}
	if err := p.quiesce(); err != nil {
		return err
	}
	return t.settled(got)
}

// settled judges the answer to a request that met a passing fault, and that of
// its retry.
func (t *trial) settled(got answer) error {
	switch {
	case got.status == http.StatusServiceUnavailable:
	case t.op.Rejects && got.inFlight():
		// The server may not have noticed yet that the first connection is lost.
		if err := got.is(codeInFlight); err != nil {
			return err
		}
	case t.op.Tombstone && got.is(codeNotStored) == nil:
		// It was done before the connection was lost, and its answer was not kept.
	case !got.success():
		return fmt.Errorf("a passing fault is answered with %s", got)
	}
	again := t.runAfter()
	if got.success() {
		if err := again.repeats(t.op, got); err != nil {
			return fmt.Errorf("the retry: %w", err)
		}
	} else if !again.success() && !t.op.Tombstone {
		return fmt.Errorf("the retry is answered with %s", again)
	}
	return t.happened(1)
}
