package wire_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/bench/faults/wire"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

// rig is a database with one table, behind a proxy and beside it.
type rig struct {
	proxy  *wire.Proxy
	url    string // behind
	direct *pgx.Conn
}

func newRig(t *testing.T) *rig {
	t.Helper()
	url := idemtest.URL(t, "CREATE TABLE written (v text)")
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	host := strings.SplitN(strings.SplitN(url, "@", 2)[1], "/", 2)[0]
	r := &rig{}
	if r.proxy, err = wire.Listen(host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	r.url = strings.Replace(url, host, r.proxy.Address(), 1)
	if r.direct, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.direct.Close(context.Background()) }) // the test is over
	return r
}

func (r *rig) connect(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(r.url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // it may be cut
	return conn
}

// written counts rows once the backends of cut connections are gone.
func (r *rig) written(t *testing.T) (n int) {
	t.Helper()
	for {
		var others int
		err := r.direct.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM written), (SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend')`).Scan(&n, &others)
		if err != nil {
			t.Fatal(err)
		}
		if others == 0 {
			return n
		}
	}
}

var writes = map[string]func(ctx context.Context, conn *pgx.Conn) error{
	"one statement, which commits itself": func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "INSERT INTO written VALUES ($1)", "x")
		return err
	},
	"a transaction": func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO written VALUES ($1)", "x"); err != nil {
				return err
			}
			return tx.QueryRow(ctx, "SELECT count(*) FROM written").Scan(new(int))
		})
	},
	"a batch with its COMMIT": func(ctx context.Context, conn *pgx.Conn) error {
		b := &pgx.Batch{}
		b.Queue("BEGIN")
		b.Queue("INSERT INTO written VALUES ($1)", "x")
		b.Queue("COMMIT")
		return conn.SendBatch(ctx, b).Close()
	},
}

var modes = map[string]pgx.QueryExecMode{
	"prepared": pgx.QueryExecModeCacheStatement,
	"unnamed":  pgx.QueryExecModeExec,
	"simple":   pgx.QueryExecModeSimpleProtocol,
}

// A cut at the message that commits is a cut there: what was sent before has not
// committed anything, and what comes after has.
func TestACutAtTheCommitIsThere(t *testing.T) {
	r := newRig(t)
	for name, write := range writes {
		for mode, exec := range modes {
			for at, c := range map[string]struct {
				to   wire.Direction
				when wire.Moment
				rows int
			}{
				"before it is sent":     {wire.ToServer, wire.Before, 0},
				"in its answer's bytes": {wire.ToClient, wire.Inside, 1},
				"before its answer":     {wire.ToClient, wire.Before, 1},
			} {
				t.Run(name+", "+mode+", "+at, func(t *testing.T) {
					conn := r.connect(t, exec)
					fired := r.proxy.Arm(wire.Fault{When: c.when, At: func(m wire.Message) bool { return m.To == c.to && m.Commits }})
					if err := write(t.Context(), conn); err == nil {
						t.Error("no error")
					}
					<-fired
					if n := r.written(t); n != c.rows {
						t.Errorf("%d rows are written, want %d", n, c.rows)
					}
					if _, err := r.direct.Exec(t.Context(), "TRUNCATE written"); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// Nothing that only reads commits, and what is rolled back does not either.
func TestReadsAndRollbacksCommitNothing(t *testing.T) {
	r := newRig(t)
	for mode, exec := range modes {
		t.Run(mode, func(t *testing.T) {
			conn := r.connect(t, exec)
			r.proxy.Arm(wire.Fault{At: func(m wire.Message) bool { return m.Commits }})
			defer r.proxy.Disarm()
			if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM written").Scan(new(int)); err != nil {
				t.Error(err)
			}
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "INSERT INTO written VALUES ('x')"); err != nil {
				t.Error(err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A delayed message arrives, later; what a silent connection carries does not, and
// its end is not told before the time is over.
func TestDelayAndSilence(t *testing.T) {
	r := newRig(t)
	const delay = 200 * time.Millisecond
	conn := r.connect(t, pgx.QueryExecModeExec)
	for _, silent := range []bool{false, true} {
		r.proxy.Arm(wire.Fault{At: func(m wire.Message) bool { return m.To == wire.ToServer }, Delay: delay, Silent: silent})
		began := time.Now()
		_, err := conn.Exec(t.Context(), "INSERT INTO written VALUES ('x')")
		if (err != nil) != silent {
			t.Errorf("silent %v: %v", silent, err)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("silent %v: it took %s", silent, took)
		}
	}
	if n := r.written(t); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// The proxy changes no byte, cancels what is cancelled, and takes new connections
// to where it is told.
func TestWithoutFaultsTheProxyIsNotThere(t *testing.T) {
	r := newRig(t)
	conn := r.connect(t, pgx.QueryExecModeExec)
	sent := bytes.Repeat([]byte("\x00Z'\n"), 1<<18)
	var got []byte
	if err := conn.QueryRow(t.Context(), "SELECT $1::bytea", sent).Scan(&got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back: %v", len(got), err)
	}
	stopped := make(chan error, 1)
	go func() { _, err := conn.Exec(context.Background(), "SELECT pg_sleep(60)"); stopped <- err }()
	const asleep = "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
	for sleeping := false; !sleeping; {
		if err := r.direct.QueryRow(t.Context(), asleep).Scan(&sleeping); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
		t.Error(err)
	}
	var cancelled *pgconn.PgError
	if err := <-stopped; !errors.As(err, &cancelled) || cancelled.Code != "57014" {
		t.Errorf("the cancelled statement: %v", err)
	}
	r.proxy.SetUpstream("127.0.0.1:1")
	if other, err := pgx.Connect(t.Context(), r.url); err == nil {
		_ = other.Close(t.Context())
		t.Error("it connects to the old server")
	}
	r.proxy.CutAll()
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection is not cut")
	}
}
