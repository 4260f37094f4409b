package main

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// delayed is a connection whose round trips take at least a given time longer:
// the first read after a write is held back. This is what a network adds to a
// protocol of requests and answers.
type delayed struct {
	net.Conn
	roundTrip time.Duration
	asked     atomic.Bool
}

func (c *delayed) Write(p []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(p)
}

func (c *delayed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.asked.CompareAndSwap(true, false) {
		time.Sleep(c.roundTrip)
	}
	return n, err
}

// dialer returns a dial function for connections with the given extra round
// trip time.
func dialer(roundTrip time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil || roundTrip == 0 {
			return conn, err
		}
		return &delayed{Conn: conn, roundTrip: roundTrip}, nil
	}
}
