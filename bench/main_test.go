package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

// newPool is a pool on a database as bench's own migrations make it. idemtest's
// template has the runtime's tables, which are among them.
func newPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	url := idemtest.URL(t, "DROP SCHEMA idem CASCADE")
	if err := migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return idemtest.Open(t, url, nil)
}

//go:embed internal/api/sql/*.sql
var emitted embed.FS

var parameterLine = regexp.MustCompile(`(?m)^-- \$\d+ `)

// Every section of every emitted file is a statement that PostgreSQL takes on
// the migrated schema, with as many parameters as its comments list.
func TestEverySectionIsPrepared(t *testing.T) {
	conn, err := newPool(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	prepared := 0
	for file, text := range emittedSQL(t) {
		parts := idemtest.Sections(text)
		if len(parts) == 0 {
			t.Errorf("%s has no section", file)
		}
		for name, sql := range parts {
			description, err := conn.Conn().PgConn().Prepare(t.Context(), "", sql, nil)
			if err != nil {
				t.Errorf("%s, section %s: %v", file, name, err)
				continue
			}
			if listed := len(parameterLine.FindAllString(sql, -1)); listed != len(description.ParamOIDs) {
				t.Errorf("%s, section %s: %d parameters are listed, PostgreSQL wants %d", file, name, listed, len(description.ParamOIDs))
			}
			prepared++
		}
	}
	if prepared != 3 { // one statement; two steps
		t.Errorf("%d sections", prepared)
	}
}

func emittedSQL(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(emitted, "internal/api/sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := emitted.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

// What is compared does the same: each contender records one payment per
// request, those with an event one event, and those with keys nothing for a
// key that they know.
func TestContendersDoTheSame(t *testing.T) {
	pool := newPool(t)
	all, err := contenders(pool)
	if err != nil {
		t.Fatal(err)
	}
	counts := func() (payments, events int) {
		t.Helper()
		err := pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM payments), (SELECT count(*) FROM payment_events)").Scan(&payments, &events)
		if err != nil {
			t.Fatal(err)
		}
		return payments, events
	}
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			bare := strings.Contains(c.name, "no idempotency")
			event := 0
			if strings.Contains(c.name, "two statements") || strings.Contains(c.name, "stepped") {
				event = 1
			}
			payments, events := counts()
			check := func(what string, wantPayments, wantEvents int) {
				t.Helper()
				p, e := counts()
				if p-payments != wantPayments || e-events != wantEvents {
					t.Errorf("%s: %d payments and %d events", what, p-payments, e-events)
				}
			}
			send := func(key string) {
				t.Helper()
				if err := c.run(t.Context(), fmt.Sprint(key, i), fmt.Sprint("order-", key, i)); err != nil {
					t.Fatal(err)
				}
			}
			send("a")
			check("a new key", 1, event)
			send("b")
			check("another key", 2, 2*event)
			if !bare {
				send("a")
				check("a known key", 2, 2*event)
			}
		})
	}
}

// A measured rate counts what was done, and an error ends the measurement.
func TestMeasure(t *testing.T) {
	o := options{clients: 2, slice: 20 * time.Millisecond}
	rate, err := measure(t.Context(), contender{name: "fine", run: func(context.Context, string, string) error { return nil }}, o)
	if err != nil || rate <= 0 {
		t.Errorf("%v per second: %v", rate, err)
	}
	_, err = measure(t.Context(), contender{name: "broken", run: func(context.Context, string, string) error { return context.Canceled }}, o)
	if err == nil || !strings.Contains(err.Error(), "broken: ") {
		t.Errorf("%v", err)
	}
	if m := median([]float64{5, 1, 3}); m != 3 {
		t.Errorf("median %v", m)
	}
	if r := ratios([]float64{1, 9}, []float64{2, 3}); r[0] != 0.5 || r[1] != 3 {
		t.Errorf("ratios %v", r)
	}
}
