package idemtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// concurrentDuplicates: of many copies at once, at two processes, one runs; the
// others wait and get its answer, or are told that it is in flight.
func concurrentDuplicates(p *probe) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	release := func() {}
	if len(p.op.Writes) > 0 {
		if release, err = p.hold(p.op.Writes[0]); err != nil {
			return err
		}
	}
	answers := make(chan answer, p.kit.Duplicates)
	var started sync.WaitGroup
	started.Add(p.kit.Duplicates)
	for i := range p.kit.Duplicates {
		go func() {
			started.Done()
			answers <- t.send(p.handlers[i%2], t.key)
		}()
	}
	started.Wait()
	if len(p.op.Writes) > 0 {
		err = p.linger(answers)
		release()
	}
	got, late := p.collect(answers)
	if err := errors.Join(err, late); err != nil {
		return err
	}
	return errors.Join(t.twins(got), t.happened(1))
}

// awaitRefused returns when a copy has an answer while the first one is held:
// where copies are not to wait, one must.
func (p *probe) awaitRefused(answers chan answer) error {
	for deadline := time.Now().Add(p.kit.Patience); len(answers) == 0; {
		if time.Now().After(deadline) {
			return errors.New("no copy of a running request is answered at once")
		}
		if _, err := p.records(); err != nil {
			return err
		}
	}
	return nil
}

// linger lets the copies come as far as they can while the first one is held:
// until one has an answer, or the database was asked a number of times.
func (p *probe) linger(answers chan answer) error {
	if err := p.awaitBlocked(); err != nil {
		return err
	}
	if p.op.Rejects {
		return p.awaitRefused(answers)
	}
	for range 50 {
		if len(answers) > 0 {
			return nil
		}
		if _, err := p.records(); err != nil {
			return err
		}
	}
	return nil
}

// collect waits for all answers. Where they don't come, the connections that
// the requests hold are ended, until all requests are.
func (p *probe) collect(answers chan answer) (got []answer, late error) {
	timer := time.NewTimer(p.kit.Patience)
	defer timer.Stop()
	for len(got) < cap(answers) {
		select {
		case a := <-answers:
			got = append(got, a)
		case <-timer.C:
			if late == nil {
				late = fmt.Errorf("after %s %d of %d copies have no answer: do they wait for connections while they hold one?",
					p.kit.Patience, cap(answers)-len(got), cap(answers))
			}
			if _, err := p.pool.Exec(context.Background(), endClients); err != nil {
				return got, errors.Join(late, err)
			}
			timer.Reset(100 * time.Millisecond)
		}
	}
	if late != nil {
		for _, pool := range p.pools {
			pool.Reset() // of connections that are gone
		}
	}
	return got, late
}

const endClients = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity " +
	"WHERE datname = current_database() AND pid <> pg_backend_pid()"

// twins judges the answers to copies of one request.
func (t *trial) twins(got []answer) error {
	var first *answer
	for i := range got {
		if got[i].success() && !got[i].replayed() {
			if first != nil {
				return fmt.Errorf("two copies say that they have run: %s, %s", *first, got[i])
			}
			first = &got[i]
		}
	}
	if first == nil {
		return fmt.Errorf("no copy has run; one is answered with %s", got[0])
	}
	for i := range got {
		if &got[i] == first {
			continue
		}
		if t.op.Rejects && got[i].inFlight() {
			if err := got[i].is(codeInFlight); err != nil {
				return err
			}
			continue
		}
		if err := got[i].replays(t.op, *first); err != nil {
			return fmt.Errorf("a copy: %w", err)
		}
	}
	return t.run().repeats(t.op, *first)
}

// disconnect: a client that goes away loses nothing: the work goes on, and its
// retry gets the answer.
func disconnect(p *probe) error {
	if len(p.op.Writes) == 0 {
		return skip("there is no table to hold a request with: set Writes")
	}
	return p.leaving(p.op.Writes[0])
}

// disconnectBeforeRecord: the same when the client goes away after the business
// write, while the answer is recorded.
func disconnectBeforeRecord(p *probe) error { return p.leaving("idem.keys") }

// leaving lets the client go away while its request waits for a table.
func (p *probe) leaving(table string) error {
	t, err := p.trial()
	if err != nil {
		return err
	}
	release, err := p.hold(table)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.sendWith(ctx, p.handlers[0], t.key)
	}()
	err = p.awaitBlocked()
	cancel()
	err = errors.Join(err, p.lingerBlocked())
	release()
	<-done
	if err := errors.Join(err, p.quiesce()); err != nil {
		return err
	}
	return errors.Join(t.wentOn(t.runAfter()), t.happened(1))
}

// runAfter is run when the service may not have noticed yet that its work is
// done: where copies are not to wait, they are told so for a moment longer.
func (t *trial) runAfter() answer {
	deadline := time.Now().Add(t.p.kit.Patience)
	for {
		got := t.run()
		if !t.op.Rejects || !got.inFlight() || time.Now().After(deadline) {
			return got
		}
		runtime.Gosched()
	}
}

// lingerBlocked lets work that ends with its client end: until nobody waits for
// a lock any more, or the database was asked a number of times.
func (p *probe) lingerBlocked() error {
	for range 100 {
		var blocked bool
		row := p.pool.QueryRow(context.Background(), fmt.Sprintf(clients, "> 0")+"wait_event_type = 'Lock'")
		if err := row.Scan(&blocked); err != nil || !blocked {
			return err
		}
	}
	return nil
}

// wentOn judges the retry of a client that had gone away.
func (t *trial) wentOn(again answer) error {
	switch {
	case t.op.Tombstone:
		return again.is(codeNotStored)
	case !again.success():
		return fmt.Errorf("the retry is answered with %s", again)
	case !again.replayed():
		return fmt.Errorf("the retry ran again: the work had ended with the client's connection, or was not recorded: %s", again)
	}
	return nil
}
