// Package doctor asks a database, and the pooler before it, what keeps a service
// from working as it should. It writes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator"
)

// Severity is what a finding means.
type Severity string

// The severities. Only problems and warnings are something to do.
const (
	OK      Severity = "ok"
	Warning Severity = "warning" // works, but not as well or as safely as it could
	Problem Severity = "problem" // does not work, or not as promised
	Skipped Severity = "skipped" // could not be looked at
)

// Finding is what one check found.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"` // the way out
}

// Patient is what is examined.
type Patient struct {
	Pool *pgxpool.Pool
	// Service is what generates from the sources, nil where they are not there:
	// what depends on them is skipped.
	Service *generator.Result
	Now     func() time.Time // nil: time.Now
}

// exam is one examination. Checks add to its findings.
type exam struct {
	Patient
	check    string
	findings []Finding
	pooled   bool
	mode     pgx.QueryExecMode // of the URL
}

func (e *exam) add(s Severity, hint, format string, args ...any) {
	e.findings = append(e.findings, Finding{e.check, s, fmt.Sprintf(format, args...), hint})
}

func (e *exam) ok(format string, args ...any) { e.add(OK, "", format, args...) }

// patience is how long one check may take: a busy table is not read to its end.
const patience = 10 * time.Second

// Examine runs all checks, in a fixed order. A check that fails is skipped, with
// the reason; the error is for a database that is not there at all.
func Examine(ctx context.Context, p Patient) ([]Finding, error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	// What the URL says about prepared statements is a finding, and must not be
	// what the other checks fail of.
	config := p.Pool.Config()
	e := &exam{Patient: p, mode: config.ConnConfig.DefaultQueryExecMode}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	var err error
	if e.Pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	defer e.Pool.Close()
	for _, c := range []struct {
		name string
		run  func(context.Context, *exam) error
	}{
		{"server", server}, {"settings", settings}, {"clock", clock}, {"pooling", pooling},
		{"runtime tables", runtimeTables}, {"runtime indexes", runtimeIndexes}, {"grants", grants}, {"autovacuum", autovacuum},
		{"migrations", migrations}, {"intents", intents}, {"triggers and rules", hooks}, {"session state", sessionState},
		{"overdue keys", overdueKeys}, {"unfinished work", work}, {"events", events},
	} {
		e.check = c.name
		bounded, cancel := context.WithTimeout(ctx, patience)
		err := c.run(bounded, e)
		cancel()
		if ctx.Err() != nil {
			return e.findings, ctx.Err()
		}
		if err != nil {
			e.add(Skipped, "", "%s", reason(err))
		}
	}
	return e.findings, nil
}

// reason is an error without the values that PostgreSQL may have put into it.
func reason(err error) string {
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		return fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", patience)
	}
	return err.Error()
}
