package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// Fiber has a clock and storages in memory that nothing ends.
func TestMain(m *testing.M) {
	idemtest.Main(m,
		goleak.IgnoreTopFunction("github.com/gofiber/utils/v2.StartTimeStampUpdater.func1.1"),
		goleak.IgnoreTopFunction("github.com/gofiber/fiber/v3/internal/storage/memory.(*Storage).gc"))
}

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
		if len(parts) == 0 && !strings.Contains(text, "Go function Funcs.RecordPayment") {
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
	if prepared != 7 { // one statement; three that are pipelined; two steps; a read
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

// newTestField is every contender that there can be here, on a database of its own; DBOS, which
// talks to it all the time, only where it is asked for.
// Redis is started where it is installed.
func newTestField(t *testing.T, w *wire, dbos bool) (*field, *pgxpool.Pool) {
	t.Helper()
	url := idemtest.URL(t, "DROP SCHEMA idem CASCADE")
	if err := migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	pool := idemtest.Open(t, url, nil)
	if _, err := pool.Exec(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	p := place{url: url, clients: 2, wire: w, dbos: dbos}
	if server, err := startRedis(t.Context()); err == nil {
		p.redis = server.address
		t.Cleanup(func() {
			if err := server.stop(); err != nil {
				t.Error(err)
			}
		})
	} else if !errors.Is(err, errNoRedis) {
		t.Fatal(err)
	}
	f, err := newField(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return f, pool
}

// What is compared does the same: each contender records one payment per
// request, those with an event one event, and those with keys nothing for a
// key that they know. Those that read write nothing.
func TestContendersDoTheSame(t *testing.T) {
	f, pool := newTestField(t, &wire{}, true)
	counts := func() (payments, events int) {
		t.Helper()
		err := pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM payments), (SELECT count(*) FROM payment_events)").Scan(&payments, &events)
		if err != nil {
			t.Fatal(err)
		}
		return payments, events
	}
	for _, c := range f.all {
		t.Run(c.name, func(t *testing.T) {
			one, event := 1, 0
			if c.reads {
				one = 0
			}
			if c.event {
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
			send := func(r request) {
				t.Helper()
				if err := c.run(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			first := requestOf(numbers.Add(1))
			send(first)
			check("a new key", one, event)
			send(requestOf(numbers.Add(1)))
			check("another key", 2*one, 2*event)
			if c.keyed {
				send(first)
				check("a known key", 2*one, 2*event)
			}
		})
	}
}

// A measured rate counts what was done, and an error ends the measurement.
func TestMeasure(t *testing.T) {
	o := options{clients: 2, slice: 20 * time.Millisecond}
	rate, err := measure(t.Context(), contender{name: "fine", run: func(context.Context, request) error { return nil }}, newKeys, o)
	if err != nil || rate <= 0 {
		t.Errorf("%v per second: %v", rate, err)
	}
	_, err = measure(t.Context(), contender{name: "broken", run: func(context.Context, request) error { return context.Canceled }}, newKeys, o)
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
