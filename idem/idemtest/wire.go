package idemtest

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Counter counts network round trips: the messages after which the server is
// asked to answer (Sync, Query and Flush).
type Counter struct{ n atomic.Int64 }

// Count runs f and returns the round trips made meanwhile.
func (c *Counter) Count(f func()) int64 {
	before := c.n.Load()
	f()
	return c.n.Load() - before
}

// PoolCounting is Pool, with the round trips of its connections counted. Those
// of a connection's start and of preparing statements count as well: warm up
// before counting.
func PoolCounting(t testing.TB, sql ...string) (*pgxpool.Pool, *Counter) {
	t.Helper()
	counter := &Counter{}
	pool := Open(t, URL(t, sql...), func(config *pgxpool.Config) {
		config.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			return &countingConn{Conn: conn, counter: counter}, nil
		}
	})
	return pool, counter
}

// countingConn reads along with what is sent. The first message of a
// connection has no type byte.
type countingConn struct {
	net.Conn
	counter *Counter
	mu      sync.Mutex
	started bool
	head    []byte // an incomplete message head
	skip    int    // bytes of the current message still to come
}

// Write implements net.Conn.
func (c *countingConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.read(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *countingConn) read(p []byte) {
	for len(p) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(p))
			c.skip -= n
			p = p[n:]
			continue
		}
		c.head = append(c.head, p[0])
		p = p[1:]
		c.readHead()
	}
}

func (c *countingConn) readHead() {
	typed := 0
	if c.started {
		typed = 1
	}
	if len(c.head) < typed+4 {
		return
	}
	if c.started {
		switch c.head[0] {
		case 'S', 'Q', 'H':
			c.counter.n.Add(1)
		}
	}
	c.skip = int(binary.BigEndian.Uint32(c.head[typed:])) - 4
	c.started, c.head = true, c.head[:0]
}
