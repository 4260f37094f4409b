package idem

import (
	"context"
	"time"
)

// Bounds of the small statements beside the operation itself.
const (
	asideTries = 3
	asideTime  = 10 * time.Second
)

// sendAside sends statements that may be sent twice without harm, as one
// transaction on a connection of its own, and gives their results; a pool may
// have several connections that are broken. They read: the end of ctx cancels them.
func (p *pool) sendAside(ctx context.Context, statements ...statement) ([]result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.aside)
	defer cancel()
	return p.sendTries(ctx, ctx, statements)
}

// writeAside is sendAside for statements that write. Their round trip carries a
// commit, which is never cancelled: where a synchronous standby is waited for, it
// would become visible without the standby. So the wait alone is bounded: an error
// of ctx leaves the commit to itself, and it is not known whether it happens.
func (p *pool) writeAside(ctx context.Context, statements ...statement) ([]result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.aside)
	defer cancel() // there are no more tries where nobody waits for them
	var results []result
	ended := apart(func() (err error) {
		results, err = p.sendTries(ctx, context.WithoutCancel(ctx), statements)
		return err
	})
	select {
	case end := <-ended:
		if end.vanished { // a tracer has ended the goroutine
			return nil, errCutOff
		}
		return results, end.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sendTries makes the tries until trying ends; sending is the context of those
// that are made.
func (p *pool) sendTries(trying, sending context.Context, statements []statement) (results []result, err error) {
	for try := range asideTries {
		var c *conn
		if c, err = p.acquire(trying, try == 0); err != nil {
			continue
		}
		ahead := c.readCommitted()
		results, err = c.send(sending, append(ahead, statements...)...)
		if isStale(err) {
			c.discard(sending)
		} else {
			c.release()
		}
		if err == nil {
			return results[len(ahead):], nil
		}
		if isPgError(err) && !isStale(err) {
			return nil, err
		}
	}
	return nil, err
}
