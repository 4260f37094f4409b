package main

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/bench/faults/wire"
)

// wireKinds are the faults of a connection.
func wireKinds() []kind {
	return []kind{
		{name: "cut before what commits is sent", share: 1400, pace: 2, inject: atCommit(wire.ToServer, wire.Before)},
		{name: "cut right after it was sent", share: 1400, pace: 2, inject: atCommit(wire.ToServer, wire.After)},
		{name: "committed, and cut before the answer", share: 1500, pace: 2, inject: atCommit(wire.ToClient, wire.Before)},
		{name: "cut in the middle of that answer", share: 300, pace: 2, inject: atCommit(wire.ToClient, wire.Inside)},
		{name: "cut before, in or after any message", share: 2500, pace: 2, inject: cutAnywhere},
		{name: "what commits, or its answer, delayed", share: 700, pace: 2, inject: delayCommit},
		{name: "any message delayed", share: 500, pace: 2, inject: delayAnywhere},
		{name: "connection silent for 10 s, then cut", share: 40, pace: 40, inject: silence},
	}
}

// committing fits the messages of one direction that commit writes, or say so.
func committing(to wire.Direction) func(wire.Message) bool {
	return func(m wire.Message) bool { return m.To == to && m.Commits }
}

// arm waits until a fault has happened.
func (f *injection) arm(ctx context.Context, fault wire.Fault) error {
	return await(ctx, f.w.proxy.Arm(fault), "message that fits the fault")
}

func atCommit(to wire.Direction, when wire.Moment) func(context.Context, *injection) error {
	return func(ctx context.Context, f *injection) error {
		return f.arm(ctx, wire.Fault{At: committing(to), When: when})
	}
}

// anywhere fits the message after some others, on whatever connection.
func (f *injection) anywhere() func(wire.Message) bool {
	left := f.random.IntN(40)
	return func(wire.Message) bool {
		left--
		return left < 0
	}
}

func (f *injection) moment() wire.Moment { return wire.Moment(f.random.IntN(3)) }

func cutAnywhere(ctx context.Context, f *injection) error {
	return f.arm(ctx, wire.Fault{At: f.anywhere(), When: f.moment()})
}

// delay is up to half a second, and now and then longer than the operations'
// timeout.
func (f *injection) delay() time.Duration {
	if f.random.IntN(50) == 0 {
		return 4 * time.Second
	}
	return time.Duration(1+f.random.IntN(500)) * time.Millisecond
}

func delayCommit(ctx context.Context, f *injection) error {
	to := wire.Direction(f.random.IntN(2))
	return f.arm(ctx, wire.Fault{At: committing(to), When: f.moment(), Delay: f.delay()})
}

func delayAnywhere(ctx context.Context, f *injection) error {
	return f.arm(ctx, wire.Fault{At: f.anywhere(), When: f.moment(), Delay: f.delay()})
}

// silence is a connection that carries nothing in one direction, and of which
// neither end is told.
func silence(ctx context.Context, f *injection) error {
	at := f.anywhere()
	if f.random.IntN(2) == 0 {
		at = committing(wire.Direction(f.random.IntN(2)))
	}
	return f.arm(ctx, wire.Fault{At: at, When: f.moment(), Delay: 10 * time.Second, Silent: true})
}
