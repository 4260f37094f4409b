package idemtest

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// URL makes a fresh database with the runtime's tables, executes the given SQL
// scripts in it, and returns where it is. It is dropped at the end of the test.
func URL(t testing.TB, sql ...string) string {
	t.Helper()
	base, err := shared.start()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	name := shared.nextName()
	execAt(t, base, "CREATE DATABASE "+name+" TEMPLATE "+shared.template()+shared.copying)
	t.Cleanup(func() { execAt(t, base, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	at := withDatabase(base, name)
	if script := strings.Join(sql, "\n;\n"); strings.TrimSpace(script) != "" {
		execAt(t, at, script)
	}
	return at
}

// Pool is a pool on a database as made by URL. It is closed at the end of the
// test.
func Pool(t testing.TB, sql ...string) *pgxpool.Pool {
	t.Helper()
	return Open(t, URL(t, sql...), nil)
}

// Open is a pool on the database at url, with its configuration changed by
// change unless that is nil. It is closed at the end of the test.
func Open(t testing.TB, url string, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func execAt(t testing.TB, at, sql string) {
	t.Helper()
	if err := exec(at, sql); err != nil {
		t.Fatalf("idemtest: %v\n%s", err, sql)
	}
}

// exec runs a script on a connection of its own.
func exec(at, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

func withDatabase(at, name string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at // a DSN of words; exec then says what is wrong
	}
	u.Path = "/" + name
	return u.String()
}
