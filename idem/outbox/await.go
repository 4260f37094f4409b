package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
)

// ErrNoEvent is what Await returns where there is no such event: none was
// written, or it was swept.
var ErrNoEvent = errors.New("outbox: there is no such event")

// Await waits until an event has ended, or ctx: it is told by this Dispatcher, by
// others where Listen is set, and looks by itself every Interval. It holds no
// connection while it waits. pool is the database of the scope; nil: that of the
// Dispatcher.
func (d *Dispatcher) Await(ctx context.Context, pool *pgxpool.Pool, scope, key string) (End, error) {
	if pool == nil {
		pool = d.Pool
	}
	if pool == nil {
		return End{}, errors.New("outbox: Await has no pool")
	}
	told, leave := d.wait(digestOf(scope, key))
	defer leave()
	ticker := time.NewTicker(or(d.Interval, time.Second))
	defer ticker.Stop()
	for {
		end, err := find(ctx, pool, scope, key)
		if err != nil || end.Status != Pending {
			return end, err
		}
		select {
		case <-ctx.Done():
			return end, ctx.Err()
		case <-told:
		case <-ticker.C:
		}
	}
}

func find(ctx context.Context, pool *pgxpool.Pool, scope, key string) (End, error) {
	row, err := gen.New(unnamed{pool}).FindEvent(ctx, gen.FindEventParams{Scope: scope, Key: key})
	if errors.Is(err, pgx.ErrNoRows) {
		return End{}, ErrNoEvent
	}
	if err != nil {
		return End{}, fmt.Errorf("outbox: await: %w", err)
	}
	end := End{Status: Status(row.Status), Reason: row.Reason}
	end.Answer = Answer{Status: int(row.AnswerStatus), Content: row.AnswerBody.String}
	if len(row.AnswerHeaders) > 0 {
		err = json.Unmarshal(row.AnswerHeaders, &end.Answer.Header)
	}
	return end, err
}

// wait registers a channel that is told when the event has ended.
func (d *Dispatcher) wait(digest string) (told chan struct{}, leave func()) {
	told = make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == nil {
		d.waiting = map[string]map[chan struct{}]bool{}
	}
	if d.waiting[digest] == nil {
		d.waiting[digest] = map[chan struct{}]bool{}
	}
	d.waiting[digest][told] = true
	return told, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting[digest], told)
		if len(d.waiting[digest]) == 0 {
			delete(d.waiting, digest)
		}
	}
}

// release tells those who wait for events that these have ended.
func (d *Dispatcher) release(digests []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, digest := range digests {
		for told := range d.waiting[digest] {
			signal(told)
		}
	}
}

// digestOf is a scope and a key in a notice, which PostgreSQL shows to everyone.
func digestOf(scope, key string) string {
	hash := sha256.New()
	for _, part := range []string{scope, key} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		hash.Write(size[:])
		hash.Write([]byte(part))
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
