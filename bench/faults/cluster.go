package main

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that goose uses
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idemgen/bench/faults/history"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

//go:embed db/migrations/*.sql
var migrations embed.FS

// cluster is a PostgreSQL server that can be broken and started again. Its
// files are not synced: the machine does not go down, only its processes do.
type cluster struct {
	dir    string
	server *pgserver.Server
}

// startCluster makes a server with the service's tables, in a new folder.
func startCluster(ctx context.Context, dir string) (*cluster, error) {
	c := &cluster{dir: dir}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	err := c.execute(ctx, "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET max_wal_size = '96MB'", "SELECT pg_reload_conf()")
	if err == nil {
		err = migrate(ctx, c.server.URL())
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the server: %w", joinStop(err, c.server.Stop))
	}
	return c, nil
}

func (c *cluster) start(ctx context.Context) (err error) {
	c.server, err = pgserver.Start(ctx, c.dir)
	return err
}

// crash ends the server at once: an "immediate shutdown" of PostgreSQL, which
// leaves it to the next start to recover.
func (c *cluster) crash() error {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err == nil { // else it is down
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		_ = syscall.Kill(pid, syscall.SIGQUIT) // it may have ended by itself
	}
	return c.server.Stop()
}

// address is where the server listens.
func (c *cluster) address() string { return addressOf(c.server.URL()) }

// addressOf is the address in a URL that pgserver made.
func addressOf(url string) string {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return "" // it isn't one
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

// execute runs statements on a connection past the proxy.
func (c *cluster) execute(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, c.server.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// ask runs a query of one value.
func (c *cluster) ask(ctx context.Context, query string) (value string, err error) {
	conn, err := pgx.Connect(ctx, c.server.URL())
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, query).Scan(&value)
	return value, err
}

func migrate(ctx context.Context, url string) error {
	conn, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer conn.Close()
	folder, err := fs.Sub(migrations, "db/migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, folder)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// count is the number of a table's rows per scope and reference.
func (c *cluster) count(ctx context.Context, table string) ([]history.Effect, error) {
	conn, err := pgx.Connect(ctx, c.server.URL())
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT tenant_id, reference, count(*) FROM "+pgx.Identifier{table}.Sanitize()+" GROUP BY 1, 2")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (history.Effect, error) {
		e := history.Effect{Place: table}
		err := row.Scan(&e.Scope, &e.Reference, &e.Count)
		return e, err
	})
}
