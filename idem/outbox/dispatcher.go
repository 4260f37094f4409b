package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Dispatcher takes events to sinks. Zero values are defaults. It must not be
// copied, and its fields not be changed, once it is used. Several may work side
// by side, in one process or many.
type Dispatcher struct {
	Pool  *pgxpool.Pool   // the database; nil where Pools is set, or a service gives its own
	Pools []*pgxpool.Pool // more databases
	// Sinks by topic: "order.created", or "order.*" for all that begin with
	// "order.", or "*". The longest that fits takes the event. Events that none
	// fits are left alone: another process may dispatch them.
	Sinks map[string]Sink

	// Concurrency is how many deliveries each sink has at once, per pool; 16.
	Concurrency int
	// Batch is how many events each sink has in memory, per pool; 100, and at least
	// Concurrency.
	Batch int
	// Interval is the time between looks for events that nobody told of, with
	// jitter of a quarter; 1 second.
	Interval time.Duration
	// Lease is how long a dispatcher that is gone keeps its events; 30 seconds. One
	// that lives renews its leases, so deliveries may take longer.
	Lease time.Duration
	// Timeout bounds one delivery; 1 minute.
	Timeout time.Duration
	// Tries is after how many failures an event is DEAD; 100, which is about 8 hours.
	Tries int
	// Grace is how long deliveries may go on once Run's context has ended; 10 seconds.
	Grace time.Duration

	// Notify tells dispatchers of other processes of new events, and whoever awaits
	// an event in another process of its end, by NOTIFY in transactions of the
	// dispatcher's own, at most 20 times a second. One with Notify and without
	// Sinks only does that.
	Notify bool
	// Listen hears what others notify, on a connection of its own per pool. It does
	// not work behind poolers that give out connections per transaction.
	Listen bool

	Logger *slog.Logger // slog.Default() if nil
	// Observer is told of every delivery; nil: nobody.
	Observer Observer
	// Ended is called after an event is PROCESSED or DEAD, and that is committed: at
	// most once per event, and not where this process is cut off in between. It is
	// called by one goroutine per pool and holds up the next batch, so it should be
	// quick.
	Ended func(ctx context.Context, e Event, end End)

	mu      sync.Mutex
	runners map[*pgxpool.Pool][]*runner
	waiting map[string]map[chan struct{}]bool // by digest of scope and key
}

// Status says how far an event is.
type Status string

// The statuses.
const (
	Pending   Status = "PENDING"   // not delivered yet
	Processed Status = "PROCESSED" // delivered, or discarded by an operator
	Dead      Status = "DEAD"      // given up, until `idemgen outbox` retries or discards it
)

// End is how an event ended.
type End struct {
	Status Status // Processed or Dead
	Answer Answer // of the receiver
	Reason string // why it is Dead
}

// settings are a Dispatcher's with defaults.
type settings struct {
	patterns                        []string // of the sinks, sorted
	concurrency, batch, tries       int
	interval, lease, timeout, grace time.Duration
	logger                          *slog.Logger
}

func or[T int | time.Duration](given, otherwise T) T {
	if given > 0 {
		return given
	}
	return otherwise
}

// settings checks what it was given.
func (d *Dispatcher) settings() (*settings, error) {
	s := &settings{
		patterns:    slices.Sorted(maps.Keys(d.Sinks)),
		concurrency: min(or(d.Concurrency, 16), 10_000),
		tries:       or(d.Tries, 100),
		interval:    or(d.Interval, time.Second),
		lease:       max(or(d.Lease, 30*time.Second), minLease),
		timeout:     or(d.Timeout, time.Minute),
		grace:       or(d.Grace, 10*time.Second),
		logger:      d.Logger,
	}
	s.batch = min(max(or(d.Batch, 100), s.concurrency), 10_000)
	if s.logger == nil {
		s.logger = slog.Default()
	}
	if len(s.patterns) == 0 && !d.Notify {
		return nil, errors.New("outbox: the dispatcher has no sinks: set Dispatcher.Sinks")
	}
	for _, pattern := range s.patterns {
		if err := checkPattern(pattern, d.Sinks[pattern]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// minLease is what a renewal and a slow commit fit in.
const minLease = time.Second

func checkPattern(pattern string, sink Sink) error {
	switch at := strings.IndexByte(pattern, '*'); {
	case sink == nil:
		return fmt.Errorf("outbox: Dispatcher.Sinks[%q] is nil", pattern)
	case pattern == "":
		return errors.New(`outbox: a key of Dispatcher.Sinks is empty: write a topic, or "*" for all`)
	case at >= 0 && at != len(pattern)-1:
		return fmt.Errorf(`outbox: Dispatcher.Sinks[%q]: a * stands at the end, as in "order.*"`, pattern)
	}
	return nil
}

// all are the pools that it works on, each once.
func (d *Dispatcher) all(more []*pgxpool.Pool) ([]*pgxpool.Pool, error) {
	var pools []*pgxpool.Pool
	for _, pool := range slices.Concat([]*pgxpool.Pool{d.Pool}, d.Pools, more) {
		if pool != nil && !slices.Contains(pools, pool) {
			pools = append(pools, pool)
		}
	}
	if len(pools) == 0 {
		return nil, errors.New("outbox: the dispatcher has no pool: set Dispatcher.Pool")
	}
	return pools, nil
}

// Wake says that events were committed in the pools, in all of them where none is
// named. It never blocks. A service calls it after its commits; call it yourself
// where you write events in transactions of your own.
func (d *Dispatcher) Wake(pools ...*pgxpool.Pool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(pools) == 0 {
		for _, all := range d.runners {
			wake(all)
		}
	}
	for _, pool := range pools {
		wake(d.runners[pool])
	}
}

func wake(runners []*runner) {
	for _, r := range runners {
		signal(r.woken)
		signal(r.told)
	}
}

// signal leaves a note in a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run dispatches, every pool of its own accord, until ctx ends and the deliveries
// in flight are done. pools are added to the Dispatcher's own. It fails at once
// where something required is missing; what goes wrong later is logged, and tried
// again.
func (d *Dispatcher) Run(ctx context.Context, pools ...*pgxpool.Pool) error {
	_, err := d.each(ctx, pools, (*runner).run)
	return err
}

// Dispatched counts what a Dispatch did.
type Dispatched struct {
	Processed, Dead int // events that ended
	Failed          int // deliveries that are tried again later
}

// Dispatch delivers what is due, and what becomes due meanwhile, and returns when
// nothing is left: for cron, and for tests. An error says what kept it from going
// on; what was done before is in the counts.
func (d *Dispatcher) Dispatch(ctx context.Context, pools ...*pgxpool.Pool) (Dispatched, error) {
	return d.each(ctx, pools, (*runner).once)
}

// each makes a runner for each pool, and joins what they did.
func (d *Dispatcher) each(ctx context.Context, more []*pgxpool.Pool, run func(*runner, context.Context) error) (Dispatched, error) {
	set, err := d.settings()
	if err != nil {
		return Dispatched{}, err
	}
	pools, err := d.all(more)
	if err != nil {
		return Dispatched{}, err
	}
	runners := make([]*runner, len(pools))
	errs := make([]error, len(pools))
	var all sync.WaitGroup
	for i, pool := range pools {
		runners[i] = newRunner(d, set, pool)
		d.enter(runners[i])
		all.Go(func() {
			defer d.leave(runners[i])
			errs[i] = run(runners[i], ctx)
		})
	}
	all.Wait()
	var sum Dispatched
	for _, r := range runners {
		sum.Processed += r.done.Processed
		sum.Dead += r.done.Dead
		sum.Failed += r.done.Failed
	}
	return sum, errors.Join(errs...)
}

func (d *Dispatcher) enter(r *runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runners == nil {
		d.runners = map[*pgxpool.Pool][]*runner{}
	}
	d.runners[r.pool] = append(d.runners[r.pool], r)
}

func (d *Dispatcher) leave(r *runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runners[r.pool] = slices.DeleteFunc(d.runners[r.pool], func(other *runner) bool { return other == r })
	if len(d.runners[r.pool]) == 0 {
		delete(d.runners, r.pool)
	}
}
