package idem

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pitfall 21: at these levels a duplicate's snapshot is older than the lock that
// it waits for. The key row is what it waits at, so that it never begins.
func TestPitfall_21_TheDuplicateDoesNotBegin(t *testing.T) {
	t.Parallel()
	for _, level := range []Isolation{RepeatableRead, Serializable} {
		s := newShop(t)
		request := doRequest("k", "")
		request.Policy.Isolation, request.Policy.Wait = level, patienceTime
		runs, running, finish := 0, make(chan struct{}), make(chan struct{})
		do := func() error {
			_, _, err := Do(context.Background(), s.pool, request, func(ctx context.Context, tx Tx) (Response, error) {
				if runs++; runs == 1 {
					close(running)
					<-finish
				}
				_, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance - 1 WHERE id = 1")
				return Response{}, err
			})
			return err
		}
		errs := make(chan error, 2)
		go func() { errs <- do() }()
		<-running
		go func() { errs <- do() }()
		awaitBlocked(t, s)
		close(finish)
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := s.count(t, allEffects); n != 1 || runs != 1 {
			t.Errorf("%s: %d effects, %d runs", level, n, runs)
		}
	}
}

// Pitfall 25: a key table that was swept empty keeps its pages, or cached plans
// would scan it when it has grown again.
func TestPitfall_25_TheKeyTableIsNotTruncated(t *testing.T) {
	t.Parallel()
	s := &shop{pool: idemtest.Pool(t, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
		SELECT 's', decode(lpad(to_hex(i), 32, '0'), 'hex'), 'o', 'k' || i, '', 200, clock_timestamp() FROM generate_series(1, 5000) i`)}
	sweeper := Sweeper{Pool: s.pool}
	if _, err := sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := s.count(t, "SELECT pg_relation_size('idem.keys')")
	s.exec(t, "VACUUM idem.keys")
	if after := s.count(t, "SELECT pg_relation_size('idem.keys')"); after != before || before == 0 || s.count(t, "SELECT count(*) FROM idem.keys") > 0 {
		t.Errorf("%d bytes, %d after VACUUM", before, after)
	}
}

// Pitfall 26: the limit of a batch holds under every plan.
func TestPitfall_26_ABatchIsABatchUnderEveryPlan(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t)
	s := &shop{pool: idemtest.Open(t, url, nil)}
	for _, off := range []string{"enable_hashjoin enable_mergejoin enable_material enable_hashagg enable_sort", "enable_hashjoin enable_mergejoin enable_material", "enable_nestloop enable_mergejoin", "enable_nestloop enable_hashjoin", "enable_indexscan enable_bitmapscan"} {
		s.exec(t, "DELETE FROM idem.keys; DELETE FROM idem.outbox; "+expiredKeys)
		pool := idemtest.Open(t, url, func(c *pgxpool.Config) {
			c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				// What is off is expensive, and would be worth compiling.
				_, err := conn.Exec(ctx, "SELECT set_config(unnest(string_to_array($1, ' ')), 'off', false)", off+" jit")
				return err
			}
		})
		sweeper := Sweeper{Pool: pool, Batch: 10, Rest: -1, Events: time.Hour}
		swept, err := sweeper.Sweep(t.Context())
		if err != nil || swept.Keys != 105 || swept.Rounds < 11 {
			t.Errorf("without %s: %+v %v", off, swept, err)
		}
	}
}

// Pitfall 28: a session setting ends with the request, and leaves no tenant on
// the connection: ” is what PostgreSQL leaves in its place.
func TestPitfall_28_ASettingEndsWithTheRequest(t *testing.T) {
	pool := idemtest.Open(t, idemtest.URL(t, shopTables), func(c *pgxpool.Config) { c.MaxConns = 1 })
	for _, op := range []*Operation{createPayment("Create", patience, false), transfer("Transfer", ReadCommitted)} {
		config := shopConfig(op)
		config.Session = []SessionVar{{Name: "app.tenant_id", Arg: Arg{From: ArgField, Field: 0}}}
		op.SQL += "\n-- statement: session\nSELECT set_config('app.tenant_id', $1::text, true);\n"
		service, err := New(pool, config, shopCaller, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := openShop(t, pool)
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
		wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name)), 201)
		if n := s.count(t, "SELECT count(nullif(current_setting('app.tenant_id', true), ''))"); n != 0 {
			t.Errorf("%s left its tenant behind", op.Name)
		}
	}
}

// Pitfall 29: values of every type arrive as they are in every mode of execution,
// jsonb and bytea too.
func TestPitfall_29_EveryTypeInEveryMode(t *testing.T) {
	t.Parallel()
	const body = `{"jsonfalse": {"a": [1, null]}, "jsontrue": [{"b": 2}], "byteafalse": "AP8=", "byteatrue": ["AQ=="], "texttrue": ["a,\"b\\", ""],
		"numericfalse": "1.50", "int8true": [1, 2], "intervalfalse": "P1DT2H", "timestamptzfalse": "2026-01-02T03:04:05Z", "boolfalse": false}`
	url, first := idemtest.URL(t), ""
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		s := openShop(t, idemtest.Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode }), everything())
		w := s.call("Every", "POST", "1", body)
		wantStatus(t, w, 200)
		if first == "" {
			first = w.Body.String()
		}
		if w.Body.String() != first {
			t.Errorf("%s: %s, not %s", mode, w.Body, first)
		}
	}
}
