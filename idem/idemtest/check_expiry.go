package idemtest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// expiry: an expired record is none. A replay extends nothing.
func expiry(p *probe) error {
	t, _, err := p.done()
	if err != nil {
		return err
	}
	before, err := p.lastExpiry()
	if err != nil {
		return err
	}
	_ = t.run() // a replay: another check says so
	after, err := p.lastExpiry()
	if err != nil {
		return err
	}
	if !after.Equal(before) {
		return fmt.Errorf("a replay has moved the expiry from %s to %s", before, after)
	}
	if err := p.expire(); err != nil {
		return err
	}
	return t.ranAgain(t.run())
}

// expire makes all records old.
func (r *rig) expire() error {
	_, err := r.pool.Exec(context.Background(), "UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 second'")
	return err
}

// ranAgain judges the answer to a request whose record had expired.
func (t *trial) ranAgain(got answer) error {
	if got.replayed() && !t.op.Intent {
		return fmt.Errorf("an expired record is replayed: %s", got)
	}
	if got.status >= 500 || got.code() == codeReused || got.inFlight() || got.code() == codeNotStored {
		return fmt.Errorf("a request with an expired record is answered with %s", got)
	}
	if t.op.Async {
		return t.p.settle() // what rows decide, they decide later
	}
	if !got.success() || t.op.Intent {
		// What the first one did is in the way of the second.
		return t.happened(1)
	}
	now, err := t.p.effects()
	if err == nil && now-t.effects <= t.p.each {
		return fmt.Errorf("a request with an expired record is answered with %s, but has not run", got)
	}
	return err
}

// lastExpiry is when the newest record expires.
func (r *rig) lastExpiry() (at time.Time, err error) {
	err = r.pool.QueryRow(context.Background(), "SELECT expires_at FROM idem.keys WHERE expires_at < 'infinity' ORDER BY created_at DESC LIMIT 1").Scan(&at)
	if err != nil {
		return at, errors.Join(errors.New("no record of the first request is in idem.keys"), err)
	}
	return at, nil
}
