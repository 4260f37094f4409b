package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"

	"example.com/payments/internal/db"
)

//go:embed db/migrations/*.sql
var migrations embed.FS

// databaseURL is DATABASE_URL, or a private PostgreSQL that goes with the
// process.
func databaseURL(ctx context.Context, logger *slog.Logger) (url string, stop func(), err error) {
	if url := os.Getenv("DATABASE_URL"); url != "" {
		return url, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "payments-")
	if err != nil {
		return "", nil, err
	}
	logger.Info("DATABASE_URL is not set: starting a private PostgreSQL")
	server, err := pgserver.Start(ctx, dir)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	stop = func() {
		if err := server.Stop(); err != nil {
			logger.Warn("stopping PostgreSQL", "error", err)
		}
		os.RemoveAll(dir)
	}
	return server.URL(), stop, nil
}

// migrate brings the schema up to date; idemgen's tables are among the
// migrations.
func migrate(ctx context.Context, url string) error {
	config, err := pgxpool.ParseConfig(url) // pool_max_conns and kin are not for the server
	if err != nil {
		return err
	}
	conn := stdlib.OpenDB(*config.ConnConfig)
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

// invite prints two requests to try: the second is a retry of the first, and
// changes nothing. The key in them is of a database that goes with the process.
func invite(ctx context.Context, w io.Writer, q *db.Queries, address string) error {
	key, err := newAPIKey(ctx, q, "demo")
	if err != nil {
		return err
	}
	curl := fmt.Sprintf("curl -i http://%s/v1/payments -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' "+
		"-H 'Idempotency-Key: try-1' -d '{\"order_id\": \"order-1\", \"amount\": 1250, \"currency\": \"EUR\"}'", address, key)
	_, err = fmt.Fprintf(w, "\nmake a payment:\n  %s\n\nand retry it; the answer is the same, and there is one payment:\n  %s\n", curl, curl)
	return err
}
