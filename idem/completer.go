package idem

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// Completer does what async operations are, and continues operations with calls
// whose process is gone or whose call has failed. Zero values are defaults. Any
// number of processes may do so side by side.
type Completer struct {
	Parallel int           // operations at once, per database; 8
	Poll     time.Duration // how often work of other processes is looked for, with jitter of a quarter; 1 s
	// MaxTries is after how many failed tries of one step an operation is held for
	// an operator; 25, about 80 minutes.
	MaxTries int
}

func (c Completer) orDefault() Completer {
	if c.Parallel <= 0 {
		c.Parallel = 8
	}
	c.Parallel = min(c.Parallel, math.MaxInt32) // the SQL's integer
	if c.Poll <= 0 {
		c.Poll = time.Second
	}
	if c.MaxTries <= 0 {
		c.MaxTries = 25
	}
	return c
}

var (
	pickWork        = newQuery(gen.PickWork)
	holdUnknownWork = newQuery(gen.HoldUnknownWork)
)

const (
	// orphaned is how long work waits for a process that knows its operation.
	orphaned    = 10 * time.Minute
	orphanRound = time.Minute
	orphanBatch = 1000
	reasonGone  = "the service has no such operation any more"
)

// completeAll runs a completer per pool until ctx ends, if any operation may need
// one.
func (s *Service) completeAll(ctx context.Context) error {
	names := s.durableNames()
	if len(names.items) == 0 {
		return nil
	}
	return s.pools.each(func(p *pool) error {
		c := &completing{s: s, pool: p, names: names, free: make(chan struct{}, s.completer.Parallel)}
		c.run(ctx)
		return nil
	})
}

// durableNames are the stored names of the operations that leave work behind.
func (s *Service) durableNames() Value {
	var names []Value
	for _, op := range s.cfg.Operations {
		if known := s.operations[op.Name]; known.durable() {
			names = append(names, textValue(known.stored))
		}
	}
	return arrayValue(names)
}

// completing is the completer of one pool while it runs.
type completing struct {
	s      *Service
	pool   *pool
	names  Value
	free   chan struct{} // a token per operation under way
	looked time.Time     // for orphans
}

func (c *completing) run(ctx context.Context) {
	wake := c.s.wakes[c.pool]
	for ctx.Err() == nil {
		full, err := c.round(ctx)
		if err != nil && ctx.Err() == nil {
			c.s.logger.ErrorContext(ctx, "completing failed", "database", c.pool.name, "error", err)
		}
		if full && err == nil {
			continue
		}
		timer := time.NewTimer(c.s.completer.Poll*3/4 + jittered(c.s.completer.Poll/2))
		select {
		case <-ctx.Done():
		case <-wake.up:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// round takes as much work as there is room for. Full: there may be more.
func (c *completing) round(ctx context.Context) (full bool, err error) {
	select { // room for one
	case c.free <- struct{}{}:
		<-c.free
	case <-ctx.Done():
		return false, nil
	}
	if time.Since(c.looked) > orphanRound {
		c.looked = time.Now()
		if err := c.holdOrphans(ctx, orphanBatch); err != nil {
			return false, err
		}
	}
	room := cap(c.free) - len(c.free) // nobody else takes of it
	rows, owner, err := c.pick(context.WithoutCancel(ctx), room)
	for _, row := range rows {
		c.free <- struct{}{}
		c.s.work.add()
		go func() { // Run waits for it
			defer c.s.work.done()
			defer func() { <-c.free }()
			c.s.complete(ctx, c.pool, owner, row)
		}()
	}
	return len(rows) == room, err
}

// pick takes the leases of at most n operations that are due.
func (c *completing) pick(ctx context.Context, n int) (rows [][][]byte, owner string, err error) {
	owner = newUUID4()
	results, err := c.pool.writeAside(ctx, pickWork.with([]byte(owner), seconds(c.s.shortLease()), []byte(c.names.Text), number(n)))
	if err != nil {
		return nil, owner, err
	}
	return results[0].rows, owner, nil
}

// holdOrphans holds what this service has no operation for, in transactions of a
// bounded size.
func (c *completing) holdOrphans(ctx context.Context, batch int) error {
	held, err := int64(0), error(nil)
	for n := int64(batch); n == int64(batch) && ctx.Err() == nil; {
		var results []result
		results, err = c.pool.writeAside(context.WithoutCancel(ctx), holdUnknownWork.with([]byte(reasonGone), seconds(orphaned),
			number(batch), []byte(c.s.cfg.Service+"."), []byte(c.names.Text)))
		if err != nil {
			break
		}
		n = results[0].tag.RowsAffected()
		held += n
	}
	if held > 0 {
		c.s.logger.ErrorContext(ctx, "operations held: an operator has to decide", "reason", reasonGone,
			"database", c.pool.name, "number", held)
	}
	return err
}

// complete continues one operation; row is of pickWork. Where ctx ends, it does so
// at the end of the call or the transaction under way.
func (s *Service) complete(ctx context.Context, p *pool, owner string, row [][]byte) {
	leave := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	op := s.operations[Name(row[9][len(s.cfg.Service)+1:])]
	inv := newInvocation(op, p, string(row[8]))
	inv.protect(string(row[10]))
	inv.print = bytesOfHex(row[11])
	inv.deadline = time.Now().Add(op.Policy.Timeout)
	inv.seen = s.watch(ctx, op)
	inv.seen.inBackground()
	ctx = inv.seen.context(ctx)
	w := &work{s: s, inv: inv, owner: owner, leave: leave, briefly: s.shortLease()}
	var ans *answer
	defer func() { // whatever becomes of it, what was begun to be told is told to its end
		if p := recover(); ans == nil {
			ans = s.breakdown(ctx, inv, endedBy(p))
		}
		inv.told(ans)
	}()
	inv.seen.attempt()
	if err := w.load(row); err != nil {
		ans = w.stuck(ctx, err)
	} else {
		ans = w.finishOff(ctx)
	}
	if ans == nil { // another process has it
		ans = s.refuse(inv, errInFlight())
	}
}

// finishOff drives the work; where its lease seems lost, once more if that was
// only the answer of a commit.
func (w *work) finishOff(ctx context.Context) *answer {
	if ans := w.drive(ctx); ans != nil {
		return ans
	}
	taken, err := w.take(ctx)
	var unfit *misfit
	switch {
	case errors.As(err, &unfit):
		return w.stuck(ctx, err)
	case !taken || err != nil:
		return nil
	}
	return w.drive(ctx)
}

// wake lets a completer look before its time.
type wake struct{ up chan struct{} }

func newWakes(p *pools) map[*pool]*wake {
	wakes := map[*pool]*wake{}
	for _, one := range p.all {
		wakes[one] = &wake{make(chan struct{}, 1)}
	}
	return wakes
}

// wakeIn wakes the completer of a pool when work will be due that this process
// leaves behind.
func (s *Service) wakeIn(p *pool, delay time.Duration) {
	up := s.wakes[p].up
	poke := func() {
		select {
		case up <- struct{}{}:
		default:
		}
	}
	if delay <= 0 {
		poke()
		return
	}
	time.AfterFunc(delay, poke)
}

// longest is how long a durable operation can take in one go.
func (op *operation) longest(grace time.Duration) time.Duration {
	if !op.durable() {
		return 0
	}
	turns := 1
	for i := range op.steps {
		if op.steps[i].Call != nil {
			turns += 3 // the call, the transaction behind it, the undo
		}
	}
	return time.Duration(turns) * (op.Policy.Timeout + grace)
}
