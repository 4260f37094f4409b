package main

import (
	"context"
	"math/rand/v2"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// kind is one way to break things.
type kind struct {
	name   string
	share  int // of 10,000 faults; at least one is injected
	pace   int // requests that return between two faults
	world  setting
	clock  bool          // the service's clock can be stepped
	absent func() string // why it can't be done here; "" where it can
	// inject lets one fault happen. What it took away is there again when it
	// returns, except for what heals by itself.
	inject func(ctx context.Context, f *injection) error
}

// injection is what one fault is made of.
type injection struct {
	w      *world
	random *rand.Rand
	number int // of the faults of this kind before
}

func noBouncer() string {
	if pgserver.BouncerInstalled() {
		return ""
	}
	return "pgbouncer is not installed"
}

func noBackup() string {
	if baseBackup() != "" {
		return ""
	}
	return "pg_basebackup is not installed"
}

// kinds are all, in the order of the report.
func kinds() []kind {
	return append(wireKinds(), []kind{
		{name: "backend terminated", share: 900, pace: 4, inject: terminate},
		{name: "service killed (`kill -9`)", share: 200, pace: 40, inject: killService},
		{name: "server stopped at once and restarted", share: 60, pace: 100, inject: crashServer},
		{name: "PgBouncer (transaction mode) restarted", share: 120, pace: 60, world: setting{pooled: true}, absent: noBouncer, inject: restartBouncer},
		{name: "connection cut in front of PgBouncer", share: 300, pace: 2, world: setting{pooled: true}, absent: noBouncer, inject: cutAnywhere},
		{name: "primary lost, synchronous standby promoted", share: 6, pace: 150, absent: noBackup, inject: losePrimary},
		{name: "the server's disk is full", share: 15, pace: 150, world: setting{small: true}, absent: canMount, inject: fillDisk},
		{name: "clock of the service stepped", share: 60, pace: 25, clock: true, inject: moveClock},
	}...)
}
