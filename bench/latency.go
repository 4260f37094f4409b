package main

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// wire is the network between the contenders and their servers: it counts round
// trips, and makes each of them take at least a given time longer.
type wire struct {
	roundTrip time.Duration
	trips     atomic.Int64
}

// dial connects through the wire. All contenders use it, whatever server is theirs.
func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &delayed{Conn: conn, wire: w}, nil
}

// delayed is a connection whose first read after a write is held back. This is
// what a network adds to a protocol of requests and answers: several messages sent
// together cost one round trip.
type delayed struct {
	net.Conn
	wire  *wire
	asked atomic.Bool
}

// Write implements net.Conn.
func (c *delayed) Write(p []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *delayed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.asked.CompareAndSwap(true, false) {
		c.wire.trips.Add(1)
		if c.wire.roundTrip > 0 {
			time.Sleep(c.wire.roundTrip)
		}
	}
	return n, err
}
