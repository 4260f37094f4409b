package pgserver_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// Two clients share one server connection, transaction by transaction, under a
// password that has to be quoted.
func TestBouncerPoolsTransactions(t *testing.T) {
	if !pgserver.BouncerInstalled() {
		t.Skip("pgbouncer is not installed")
	}
	ctx := context.Background()
	server, err := pgserver.Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	execute(t, server.URL(), `CREATE ROLE "o'brien" LOGIN PASSWORD 'a '' b'`)
	at, err := pgx.ParseConfig(server.URL())
	if err != nil {
		t.Fatal(err)
	}

	bouncer, err := pgserver.StartBouncer(ctx, "postgres://o%27brien:a%20%27%20b@"+net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))+"/postgres?sslmode=disable", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bouncer.Stop() })                // it has ended by then
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second) // in session mode the second client waits for the first
	defer cancel()
	pids := map[string]bool{}
	for range 3 {
		client, err := pgx.Connect(ctx, bouncer.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(ctx)
		var pid string
		if err := client.QueryRow(ctx, "SELECT pg_backend_pid()::text || current_user").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		pids[pid] = true
	}
	if len(pids) != 1 {
		t.Errorf("%d server connections", len(pids))
	}
	if err := bouncer.Stop(); err != nil {
		t.Error(err)
	}
	if conn, err := pgx.Connect(ctx, bouncer.URL()); err == nil {
		conn.Close(ctx)
		t.Error("it still runs")
	}
}

// A database that can't be reached is an error at the start.
func TestBouncerWithoutServer(t *testing.T) {
	if !pgserver.BouncerInstalled() {
		t.Skip("pgbouncer is not installed")
	}
	if _, err := pgserver.StartBouncer(context.Background(), "postgres://h:port/d", 1); err == nil {
		t.Error("no error")
	}
}
