package idem

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
	"github.com/idemgen/idemgen/schema"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pitfall 5: where a synchronous standby is waited for, a cancelled commit
// becomes visible without it, and a replay of it can be lost. The round trip that
// carries the commit outlives the timeout.
func TestPitfall_5_TheCommitIsNeverCancelled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	server, err := pgserver.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	watch := &shop{pool: idemtest.Open(t, server.URL(), nil)}
	watch.exec(t, schema.Up())
	watch.exec(t, shopTables+spendTables+"INSERT INTO slots SELECT i, 25 FROM generate_series(0, 9) i")
	strategies, ops := []string{"fused", "verbatim", "stepped", "repeatable read"}, []*Operation(nil)
	for i, name := range strategies {
		op := spenders()[name](spendName(i, 0))
		op.Policy.Timeout, op.Policy.Wait = time.Second, 0 // in which a busy machine gets as far as the commit
		ops = append(ops, op)
	}
	s := openShop(t, idemtest.Open(t, server.URL(), func(c *pgxpool.Config) { c.MaxConns = 8 }), ops...)
	s.grace = time.Second
	warm(t, s.pool)
	setStandby(t, watch, "nobody")
	for i, op := range ops {
		wantCode(t, s.post(op.Name, "k", spendBody(int64(i), 20)), 503, "unavailable")
	}
	watch.awaitStandbyWaits(t, len(ops))
	begun := time.Now()
	for n := 0; time.Since(begun) < ops[0].Policy.Timeout+s.grace+time.Second/2; n++ { // all bounds of theirs pass
		wantCode(t, s.post(ops[0].Name, fmt.Sprint("other", n), spendBody(9, 1)), 503, "unavailable")
	}
	watch.awaitStandbyWaits(t, len(ops))
	if n := watch.count(t, "SELECT sum(effects)::bigint FROM slots"); n != 0 {
		t.Errorf("%d commits were cut short: they are visible, and no standby has them", n)
	}
	setStandby(t, watch, "")
	s.work.wait(time.Minute)
	for i, op := range ops {
		again := s.post(op.Name, "k", spendBody(int64(i), 20))
		if wantStatus(t, again, 201); !isReplay(again) {
			t.Errorf("%s ran again: %s", strategies[i], again.Body)
		}
	}
}

// setStandby names the standby that commits wait for.
func setStandby(t *testing.T, s *shop, name string) {
	t.Helper()
	s.exec(t, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'")
	s.exec(t, "SELECT pg_reload_conf()")
	settled := "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '" + name + "'"
	for deadline := time.Now().Add(20 * time.Second); s.count(t, settled) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the server does not take the setting over")
		}
	}
	for deadline := time.Now().Add(20 * time.Second); name != "" && !s.commitsWait(t); {
		if time.Now().After(deadline) {
			t.Fatal("commits do not wait for the standby")
		}
	}
}

// commitsWait reports whether a commit waits for the standby: what backends say of the
// setting may be ahead of the process that decides it for all. Nobody else may wait.
func (s *shop) commitsWait(t *testing.T) (waits bool) {
	t.Helper()
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	committed := make(chan error, 1)
	go func() {
		_, err := s.pool.Exec(ctx, "SELECT pg_logical_emit_message(true, 'test', 'a commit')")
		committed <- err
	}()
	for {
		select {
		case <-committed:
			return false
		default:
		}
		if s.count(t, waiting) > 0 {
			break
		}
	}
	cancel()
	<-committed
	s.await(t, 0, waiting)
	return true
}

// awaitStandbyWaits returns when so many commits wait for the standby.
func (s *shop) awaitStandbyWaits(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.count(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") < int64(n); {
		if time.Now().After(deadline) {
			t.Fatalf("fewer than %d commits wait for the standby", n)
		}
	}
}

// Pitfall 8: a transaction whose client is gone, or can't be reached, ends by
// itself: the server is told three limits with the claim, and they end with it.
func TestPitfall_8_TheServerBoundsTheTransaction(t *testing.T) {
	t.Parallel()
	const limits = "SELECT current_setting('statement_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout') || ' ' || " +
		"coalesce(current_setting('client_connection_check_interval', true), 'none')"
	pool := idemtest.Open(t, idemtest.URL(t), func(c *pgxpool.Config) { c.MaxConns = 1 })
	var outside, after string
	if err := pool.QueryRow(t.Context(), limits).Scan(&outside); err != nil {
		t.Fatal(err)
	}
	for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
		for _, wait := range []time.Duration{-1, 2 * time.Second} {
			request := doRequest(fmt.Sprintf("%.6s%s", level, wait), "")
			request.Policy.Isolation, request.Policy.Wait, request.Policy.Timeout = level, wait, 7*time.Second
			var inside string
			if _, _, err := Do(t.Context(), pool, request, func(ctx context.Context, tx Tx) (Response, error) {
				return Response{}, tx.QueryRow(ctx, limits).Scan(&inside)
			}); err != nil {
				t.Fatal(err)
			}
			limit := 7 + max(wait, 0)/time.Second
			if want := fmt.Sprintf("%ds %ds ", limit, limit+5); !strings.HasPrefix(inside, want) || strings.HasSuffix(inside, " 0") {
				t.Errorf("%q, wait %s: %s", level, wait, inside)
			}
			if err := pool.QueryRow(t.Context(), limits).Scan(&after); err != nil || after != outside {
				t.Errorf("left behind: %s, before %s, %v", after, outside, err)
			}
		}
	}
}

// Pitfall 8: the server's own limit ends a business wait, and frees the key.
func TestPitfall_8_AStatementThatTakesTooLongEnds(t *testing.T) {
	t.Parallel()
	op := spendStepped("Spend", ReadCommitted, 0)
	op.Policy.Timeout = 100 * time.Millisecond
	e := newOutcomeRun(t, op)
	e.watch.exec(t, "INSERT INTO slots VALUES (1, 25)")
	end := hold(t, e.watch.pool, "SELECT FROM slots FOR UPDATE")
	wantCode(t, e.post("Spend", "k", spendBody(1, 20)), 503, "unavailable")
	e.work.wait(time.Minute) // ended by the server: the row is still locked
	end(false)
	e.wantNothingHeld(t)
	w := e.post("Spend", "k", spendBody(1, 20))
	if wantStatus(t, w, 201); isReplay(w) {
		t.Error("it went on")
	}
}

// Pitfall 22: modes that can't be trusted behind a pooler are refused; by New,
// too, see TestPoolsAreChecked.
func TestPitfall_22_DescribeExecIsRefused(t *testing.T) {
	pool := idemtest.Open(t, "postgres://nobody@127.0.0.1:1/none", func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	})
	if _, _, err := Do(t.Context(), pool, doRequest("k", ""), nil); err == nil || !strings.Contains(err.Error(), "DescribeExec") {
		t.Errorf("Do: %v", err)
	}
}

// Pitfall 22: a server connection that has a statement of that name from another
// client (42P05) is no fault, and neither is one that has lost ours (26000).
func TestPitfall_22_StatementsOfAPooler(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{createPayment("Create", patience, true), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable)} {
		url := idemtest.URL(t, shopTables, "INSERT INTO jobs DEFAULT VALUES")
		probe := openShop(t, idemtest.Open(t, url, nil), op)
		compiled := probe.operations[op.Name]
		queries := []query{compiled.prior, compiled.claim, compiled.keyed, findRecord, insertRecord, finishRecord, claimKey, finishClaim, checkConstraints}
		for i := range compiled.steps {
			queries = append(queries, compiled.steps[i].query)
		}
		s := openShop(t, idemtest.Open(t, url, func(c *pgxpool.Config) {
			c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				for _, q := range queries {
					if q.name == "" {
						continue
					}
					if _, err := conn.PgConn().Prepare(ctx, q.name, "SELECT 1", nil); err != nil {
						return err
					}
				}
				return nil
			}
		}), op)
		w := s.post(op.Name, "k", bodyFor(op.Name))
		wantStatus(t, w, op.Status)
		sameAnswer(t, w, s.post(op.Name, "k", bodyFor(op.Name)))
	}
}

// Pitfall 27: a record's time counts from its own moment, not from the beginning
// of a long transaction, or it could be born expired.
func TestPitfall_27_TimesCountFromTheAnswer(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
		for _, fails := range []bool{false, true} {
			request := doRequest(fmt.Sprintf("%.6s%v", level, fails), "")
			request.Policy.Isolation, request.Policy.Success, request.Policy.ClientError = level, time.Hour, time.Hour
			var late time.Time
			_, _, _ = Do(t.Context(), pool, request, func(ctx context.Context, tx Tx) (Response, error) {
				if err := tx.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&late); err != nil || !fails {
					return Response{}, err
				}
				return Response{}, Fail(409, "closed", "")
			})
			var kept time.Time
			err := pool.QueryRow(t.Context(), "SELECT expires_at FROM idem.keys WHERE key = $1", request.Key).Scan(&kept)
			if err != nil || kept.Sub(late) < time.Hour {
				t.Errorf("%q, %v: kept for %s, %v", level, fails, kept.Sub(late), err)
			}
		}
	}
}

// Pitfall 31: what PostgreSQL says about values, keys, bodies: none of it reaches
// an answer or the log.
func TestPitfall_31_NothingOfARowIsTold(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	op := spendFused("Spend", patienceTime)
	pool := idemtest.Pool(t, shopTables, spendTables, strings.ReplaceAll(`CREATE OR REPLACE FUNCTION fail_slot() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'failed' USING ERRCODE = (SELECT code FROM fault), DETAIL = 'card 4111', HINT = 'ask 4111'; END $$;
		INSERT INTO slots VALUES (1, 25)`, "\t", ""))
	service, err := New(pool, shopConfig(op), shopCaller, Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	s := openShop(t, pool)
	s.mux.Handle("/Spend/{id}", service.Handler("Spend"))
	for _, code := range []string{"XX000", "23505", "23514", "22P02", "P0001", "53200", "57014", "40001"} {
		s.exec(t, "UPDATE fault SET code = $1", code)
		w := s.post("Spend", "private-"+code, spendBody(1, 20))
		if strings.Contains(w.Body.String(), "4111") || w.Code < 400 {
			t.Errorf("%s: %d %s", code, w.Code, w.Body)
		}
	}
	for _, secret := range []string{"4111", "private-", `"slot"`} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, &log)
		}
	}
	if !strings.Contains(log.String(), "XX000") {
		t.Error("the log does not say what failed")
	}
}
