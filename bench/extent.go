package main

import "time"

// setting is a network and a number of clients.
type setting struct {
	roundTrip time.Duration
	clients   int
}

// The settings that figures are wanted for.
var (
	near = setting{0, 8}
	far  = setting{time.Millisecond, 16}
)

// extent is how much of everything a run measures.
type extent struct {
	settings []setting // beside near and far
	rounds   int       // at near and far
	others   int       // rounds at the other settings
	slice    time.Duration

	costRounds, costRequests int // of the price of one request
	bytesRequests            int // of WAL and tables
	fewKeys, manyKeys        int
	sweep, sweepClients      int
	sweepSlice               time.Duration
	outbox                   int
	operations               []int // of generated services
}

// full is the report of docs/performance.md.
var full = extent{
	settings: []setting{
		{0, 1}, {0, 16}, {0, 64},
		{time.Millisecond, 1}, {time.Millisecond, 8}, {time.Millisecond, 64},
	},
	rounds: 13, others: 3, slice: 100 * time.Millisecond,
	costRounds: 15, costRequests: 100, bytesRequests: 1000,
	fewKeys: 10_000, manyKeys: 10_000_000,
	sweep: 200_000, sweepClients: 8, sweepSlice: 250 * time.Millisecond,
	outbox: 20_000, operations: []int{10, 100, 1000},
}

// quick is what a change is checked with.
var quick = extent{
	rounds: 7, slice: 50 * time.Millisecond,
	costRounds: 9, costRequests: 60, bytesRequests: 400,
	fewKeys: 10_000, manyKeys: 500_000,
	sweep: 40_000, sweepClients: 8, sweepSlice: 150 * time.Millisecond,
	outbox: 5_000, operations: []int{10},
}

// with is an extent with what the command line says of it.
func (e extent) with(o options) extent {
	if o.rounds > 0 {
		e.rounds = o.rounds
	}
	if o.keys > 0 {
		e.manyKeys = o.keys
	}
	if o.slice > 0 {
		e.slice, e.sweepSlice = o.slice, o.slice
	}
	if o.sweep > 0 {
		e.sweep, e.sweepClients = o.sweep, o.clients
	}
	if o.outbox > 0 {
		e.outbox, e.sweepClients = o.outbox, o.clients
	}
	return e
}
