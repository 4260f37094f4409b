package outbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
)

// runner dispatches the events of one pool. Its loop claims, its lanes deliver,
// and one goroutine each renews leases and settles what ended.
type runner struct {
	d    *Dispatcher
	set  *settings
	pool *pgxpool.Pool
	name string // HOST/NAME of the database
	id   string // the beginning of the owner of its leases

	woken chan struct{} // there may be new events
	told  chan struct{} // tell other processes of new events
	freed chan struct{} // a lane that had no room has some
	ended chan struct{} // outcomes wait to be settled

	base   context.Context // of deliveries
	cutOff context.CancelCauseFunc
	work   sync.WaitGroup // deliveries

	// writing keeps renewals and settlements apart, which would lock the same
	// rows in another order.
	writing sync.Mutex

	mu       sync.Mutex
	lanes    map[string]*lane // by pattern
	held     map[*held]bool   // leased, and not settled
	outcomes []*outcome
	stopping bool
	claims   int
	next     time.Time // when a failed event is due again; zero: not known
	done     Dispatched
	busy     int // deliveries running
	written  int // outcomes
}

func newRunner(d *Dispatcher, set *settings, pool *pgxpool.Pool) *runner {
	config := pool.Config().ConnConfig
	r := &runner{
		d: d, set: set, pool: pool, name: config.Host + "/" + config.Database, id: newID(),
		woken: make(chan struct{}, 1), told: make(chan struct{}, 1), freed: make(chan struct{}, 1), ended: make(chan struct{}, 1),
		lanes: map[string]*lane{}, held: map[*held]bool{},
	}
	for _, pattern := range set.patterns {
		r.lanes[pattern] = &lane{r: r, sink: d.Sinks[pattern]}
	}
	return r
}

// newID is never the same twice.
func newID() string {
	var random [9]byte
	_, _ = rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}

// run dispatches until ctx ends.
func (r *runner) run(ctx context.Context) error { return r.with(ctx, r.loop) }

// once dispatches until nothing is due.
func (r *runner) once(ctx context.Context) error {
	return r.with(ctx, func(ctx context.Context) error {
		if err := r.repair(); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		return r.drain(ctx)
	})
}

// with keeps leases alive and settles what ends for as long as work goes on, and
// then stops.
func (r *runner) with(ctx context.Context, work func(context.Context) error) error {
	r.base, r.cutOff = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.cutOff(nil)
	stopped := make(chan struct{})
	listening, deaf := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { r.renewals(stopped) })
	helpers.Go(func() { r.settlements(stopped) })
	helpers.Go(func() { r.repairs(stopped) })
	if r.d.Notify {
		helpers.Go(func() { r.notices(stopped) })
	}
	if r.d.Listen {
		helpers.Go(func() { r.listen(listening) })
	}
	err := work(ctx)
	left := r.stop()
	deaf()
	close(stopped)
	helpers.Wait()
	if left > 0 && err == nil {
		err = fmt.Errorf("outbox: %d deliveries did not end when they were told to; their leases run out by themselves", left)
	}
	return err
}

// stop gives back what was not begun, and waits for deliveries: the time of
// grace, and some more once they were cut off. It returns how many go on.
func (r *runner) stop() int {
	r.mu.Lock()
	r.stopping = true
	for _, l := range r.lanes {
		for _, g := range l.queue {
			r.release(g)
		}
		l.queue = nil
	}
	r.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		r.work.Wait()
		close(idle)
	}()
	for _, patience := range []time.Duration{r.set.grace, cutOffPatience} {
		timer := time.NewTimer(patience)
		select {
		case <-idle:
			timer.Stop()
			return 0
		case <-timer.C:
			r.cutOff(errStopped)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

// cutOffPatience is how long a sink has to return once its context has ended.
const cutOffPatience = 5 * time.Second

// tx runs statements in a transaction at READ COMMITTED, whatever the default is.
// It is never cancelled by the end of a Run: a claim whose commit was cut off would
// hold its events until the lease ends.
func (r *runner) tx(statements func(context.Context, *gen.Queries) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.base), r.set.lease)
	defer cancel()
	return pgx.BeginTxFunc(ctx, r.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		return statements(ctx, gen.New(unnamed{tx}))
	})
}

func interval(d time.Duration) pgtype.Interval {
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}
