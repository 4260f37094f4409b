package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"
)

// database is the flag of commands that work on a service's database.
type database struct {
	url string
	// plain keeps statements from being prepared: a pooler may not know them.
	plain bool
}

func (d *database) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.url, "db", "", "the service's database, as a URL (default: DATABASE_URL of the environment)")
}

const connectPatience = 10 * time.Second

// open connects: one connection is all that a command needs. No message shows
// what was given, since a password may be in it.
func (a *app) open(ctx context.Context, d database) (*pgxpool.Pool, error) {
	given, from := d.url, "--db"
	if given == "" {
		given, from = a.env.Getenv("DATABASE_URL"), "DATABASE_URL"
	}
	if given == "" {
		return nil, &usageError{"no database is given", "use --db postgres://USER@HOST:5432/DATABASE, or set DATABASE_URL"}
	}
	config, err := pgxpool.ParseConfig(given)
	if err != nil || misread(given) {
		return nil, &usageError{from + " can't be read as the URL of a database",
			"write postgres://USER:PASSWORD@HOST:5432/DATABASE; what is special in a URL is percent-encoded, like %40 for @"}
	}
	config.MaxConns = 1
	if d.plain {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "idemgen"
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectPatience
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the database of %s: %w", from, err)
	}
	return pool, nil
}

// misread reports whether a part of a password may have been taken for another
// part of the URL, and would be shown in what comes: it has an @, #, ? or / that
// is not percent-encoded.
func misread(text string) bool {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return false
	}
	u, err := url.Parse(text)
	return err != nil || u.User == nil || u.Fragment != "" || strings.Count(text, "@") > 1
}

// explained adds the way out to what PostgreSQL says about the runtime's tables.
func explained(err error) error {
	var pgError *pgconn.PgError
	if !errors.As(err, &pgError) {
		return err
	}
	switch pgError.Code {
	case "42P01", "3F000", "42883": // no such table, schema, function
		return fmt.Errorf("%w\n  hint: the runtime's tables are not in this database: apply the service's migrations, or name the database that has them", err)
	case "42501": // insufficient privilege
		return fmt.Errorf("%w\n  hint: the role needs what docs/operations.md lists under Grants", err)
	}
	return err
}
