package idemtest

import (
	"context"
	"errors"
	"time"
)

// forcedAtOnce: forced requests of one key that come at once, at two processes,
// run one after the other; none is turned away.
func forcedAtOnce(p *probe) error {
	if !p.op.Forces {
		return moot("it can't be forced")
	}
	if len(p.op.Writes) == 0 {
		return skip("there is no table to hold a request at: set Writes")
	}
	t, first, err := p.done()
	if err != nil {
		return err
	}
	open, err := p.gate()
	if err != nil {
		return err
	}
	one, two := make(chan answer, 1), make(chan answer, 1)
	go func() { one <- t.force(p.handlers[0]) }()
	_, err = p.watchGate(one, func(running, _ int64) bool { return running > 0 })
	go func() { two <- t.force(p.handlers[1]) }()
	if err == nil {
		err = p.takesTurn(two)
	}
	err = errors.Join(err, open())
	got := []answer{<-one, <-two}
	if err != nil {
		return err
	}
	return t.replaced(first, got...)
}

// takesTurn lets a second forced request come as far as it can while the first
// one is at the gate: until it waits somewhere, or has an answer.
func (r *rig) takesTurn(second chan answer) error {
	running, err := r.watchGate(second, func(running, waiting int64) bool { return running > 1 || waiting > 1 })
	if err == nil && running > 1 {
		err = errors.New("a forced request runs while another one does")
	}
	return err
}

// gate holds requests where they take effect: at the end of the statement, with
// all that they have claimed. Open lets them go on.
func (r *rig) gate() (open func() error, err error) {
	ctx := context.Background()
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, "SELECT pg_advisory_xact_lock(1768187245, 1952805748)")
	if err == nil {
		err = r.fault("gate")
	}
	if err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return func() error { return errors.Join(r.fault(""), tx.Rollback(ctx)) }, nil
}

// atGate counts who waits at the gate, and who waits for any lock.
const atGate = `SELECT count(*) FILTER (WHERE locktype = 'advisory' AND classid = 1768187245 AND objid = 1952805748), count(*)
FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`

// watchGate asks for who waits until that is enough, or a request has an answer,
// or the kit's patience ends. It returns how many wait at the gate.
func (r *rig) watchGate(request chan answer, enough func(running, waiting int64) bool) (running int64, err error) {
	for deadline := time.Now().Add(r.kit.Patience); len(request) == 0 && time.Now().Before(deadline); {
		var waiting int64
		err = r.pool.QueryRow(context.Background(), atGate).Scan(&running, &waiting)
		if err != nil || enough(running, waiting) {
			return running, err
		}
	}
	return running, nil
}
