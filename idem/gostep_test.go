package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// adjust moves money by a Go function between two statements.
func adjust(name Name, level Isolation) *Operation {
	policy := shopPolicy(2 * time.Second)
	policy.Isolation = level
	return &Operation{
		Name: name, Method: http.MethodPost, Path: "/v1/adjust/{id}", Status: 201, Strategy: Stepped,
		Key: Key{From: KeyHeader}, Policy: policy,
		Fields: []Field{
			{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
			{From: FromCaller, Name: "tenant_id", Kind: KindText, Required: true, Scope: true},
		},
		SQL: `
-- statement: step.Lock
SELECT balance::text FROM accounts WHERE id = 1 FOR UPDATE;
-- statement: step.Mark
WITH idem_step AS (UPDATE accounts SET balance = balance - $1 WHERE id = 1 RETURNING balance)
SELECT row_to_json(s)::text FROM idem_step s;
`,
		Steps: []Step{
			{Name: "Lock", Section: "step.Lock", Results: Results{Text: 1}, Empty: Empty{Problem: &Problem{404, "no_account", "No account"}}},
			{
				Name: "Adjust",
				Args: []Arg{{From: ArgField, Field: 0, Kind: KindInt8}, {From: ArgStep, Step: 0, Column: 0, Kind: KindInt8}, {From: ArgField, Field: 1}},
				Go: &GoStep{
					Func: "Adjust",
					In:   []Field{{Name: "amount", Kind: KindInt8}, {Name: "balance", Kind: KindInt8}, {Name: "tenant"}},
					Out:  []GoResult{{Name: "taken", Kind: KindInt8}, {Name: "note", Nullable: true}},
				},
				Errors: []ErrorRule{
					{Problem: Problem{409, "overdrawn", "The account is overdrawn"}},
					{Constraint: "payments_amount_check", Problem: Problem{422, "bad_amount", "Bad amount"}},
				},
			},
			{Name: "Mark", Section: "step.Mark", Args: []Arg{{From: ArgStep, Step: 1, Column: 0}}, Results: Results{Row: true}, Writes: []string{"public.accounts"},
				Errors: []ErrorRule{{Constraint: "accounts_balance_check", Problem: Problem{402, "insufficient", ""}}}},
		},
		Answer: Answer{Kind: "object", Members: []Member{
			{Name: "taken", Value: Answer{Kind: "column", Step: 1}},
			{Name: "note", Value: Answer{Kind: "column", Step: 1, Column: 1}},
			{Name: "account", Value: Answer{Kind: "step", Step: 2}},
		}},
	}
}

// adjusting is what a test's function gets.
type adjusting struct {
	amount, balance int64
	tenant          string
	run             int // from 1
}

// goShop serves Adjust with a function.
func goShop(t testing.TB, pool *pgxpool.Pool, level Isolation, function func(ctx context.Context, tx Tx, in adjusting) ([]any, error)) *shop {
	t.Helper()
	runs := 0
	funcs := map[string]GoFunc{"Adjust": func(ctx context.Context, tx Tx, scan func(...any) error) ([]any, error) {
		runs++
		in := adjusting{run: runs}
		if err := scan(&in.amount, &in.balance, &in.tenant); err != nil {
			return nil, err
		}
		// Every function writes first, so that what is undone shows.
		if _, err := tx.Exec(ctx, "INSERT INTO jobs DEFAULT VALUES"); err != nil {
			return nil, err
		}
		return function(ctx, tx, in)
	}}
	service, err := New(pool, shopConfig(adjust("Adjust", level)), shopCaller, Options{Go: funcs})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	s.mux.Handle("/Adjust/{id}", service.Handler("Adjust"))
	return s
}

const ten = `{"amount": 10}`

// untouched checks that nothing of the operation is left but records.
func (s *shop) untouched(t *testing.T, records int64) {
	t.Helper()
	if n := s.count(t, "SELECT count(*) FROM jobs"); n != 0 {
		t.Errorf("%d writes of the function stay", n)
	}
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 100 {
		t.Errorf("the balance is %d", n)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != records {
		t.Errorf("%d records, want %d", n, records)
	}
	s.awaitNothingHeld(t)
}

var goLevels = []Isolation{ReadCommitted, RepeatableRead, Serializable}

func TestGoStepIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		t.Run(string(level), func(t *testing.T) {
			s := goShop(t, idemtest.Pool(t, shopTables), level, func(ctx context.Context, tx Tx, in adjusting) ([]any, error) {
				if TxFrom(ctx) != tx {
					return nil, errors.New("TxFrom is another transaction")
				}
				note := fmt.Sprintf("%s had %d", in.tenant, in.balance)
				return []any{in.amount * 2, &note}, nil
			})
			first := s.post("Adjust", "k", ten)
			wantStatus(t, first, 201)
			if want := `{"taken":20,"note":"t1 had 100","account":{"balance":80}}`; first.Body.String() != want {
				t.Errorf("got %s\nwant %s", first.Body, want)
			}
			sameAnswer(t, first, s.post("Adjust", "k", ten))
			wantCode(t, s.post("Adjust", "k", `{"amount": 11}`), 422, "key-reused")
			wantStatus(t, s.post("Adjust", "", ten), 201) // without a key
			if n := s.count(t, "SELECT count(*) FROM jobs"); n != 2 {
				t.Errorf("the function wrote %d times", n)
			}
		})
	}
}

// store-2 for Go: a client error of the function undoes the writes of all steps,
// and is recorded.
func TestCase_store_2_go(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		t.Run(string(level), func(t *testing.T) {
			s := goShop(t, idemtest.Pool(t, shopTables), level, func(ctx context.Context, tx Tx, in adjusting) ([]any, error) {
				if in.run > 1 {
					t.Error("a recorded client error ran again")
				}
				return nil, fmt.Errorf("adjust: %w", Fail(409, "overdrawn", ""))
			})
			first := s.post("Adjust", "k", ten)
			wantCode(t, first, 409, "overdrawn")
			if !strings.Contains(first.Body.String(), `"title":"The account is overdrawn"`) {
				t.Errorf("not the declared title: %s", first.Body)
			}
			sameAnswer(t, first, s.post("Adjust", "k", ten))
			s.untouched(t, 1)
		})
	}
}

// What a function may fail with, and what comes of it.
func TestGoStepFailures(t *testing.T) {
	t.Parallel()
	exec := func(sql string) func(context.Context, Tx, adjusting) ([]any, error) {
		return func(ctx context.Context, tx Tx, _ adjusting) ([]any, error) {
			_, err := tx.Exec(ctx, sql)
			return nil, err
		}
	}
	fail := func(err error) func(context.Context, Tx, adjusting) ([]any, error) {
		return func(context.Context, Tx, adjusting) ([]any, error) { return nil, err }
	}
	const pay = "INSERT INTO payments (tenant_id, order_id, amount) VALUES "
	cases := []struct {
		name     string
		function func(context.Context, Tx, adjusting) ([]any, error)
		status   int
		code     string
		records  int64
	}{
		{"an undeclared code", fail(Fail(422, "own_rule", "Own rule")), 422, "own_rule", 1},
		{"not a definite answer", fail(Fail(429, "slow_down", "Slow down")), 429, "slow_down", 0},
		{"not for this caller", fail(Fail(403, "not_yours", "Not yours")), 403, "not_yours", 0},
		{"no status of a refusal", fail(Fail(201, "done", "Done")), 500, "internal", 0},
		{"any other error", fail(errors.New("secret")), 500, "internal", 0},
		{"a declared constraint", exec(pay + "('t1', 'o', 0)"), 422, "bad_amount", 1},
		{"one that another step declares", exec("UPDATE accounts SET balance = -1 WHERE id = 1"), 402, "insufficient", 1},
		{"an undeclared one", exec(pay + "('t1', 'o', 1), ('t1', 'o', 2)"), 409, "already-exists", 1},
		{"a value that does not fit", exec("SELECT 'x'::int"), 422, "invalid-value", 1},
		{"a broken statement", exec("SELECT FROM nowhere"), 500, "internal", 0},
		{"an error that is swallowed", func(ctx context.Context, tx Tx, _ adjusting) ([]any, error) {
			_, _ = tx.Exec(ctx, "SELECT FROM nowhere")
			return []any{int64(1), nil}, nil
		}, 500, "internal", 0},
		{"a null that is none", func(context.Context, Tx, adjusting) ([]any, error) { return []any{(*int64)(nil), nil}, nil }, 500, "internal", 0},
		{"too few results", func(context.Context, Tx, adjusting) ([]any, error) { return []any{int64(1)}, nil }, 500, "internal", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, c.function)
			w := s.post("Adjust", "k", ten)
			wantCode(t, w, c.status, c.code)
			if strings.Contains(w.Body.String(), "secret") {
				t.Error("the error is in the answer")
			}
			s.untouched(t, c.records)
		})
	}
}

// crash-3: a panic in a Go function.
func TestCase_crash_3_go(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	s := goShop(t, pool, ReadCommitted, func(_ context.Context, _ Tx, in adjusting) ([]any, error) {
		if in.run == 1 {
			panic("secret")
		}
		return []any{in.amount, nil}, nil
	})
	before := pool.Stat().NewConnsCount()
	w := s.post("Adjust", "k", ten)
	wantCode(t, w, 500, "internal")
	s.untouched(t, 0)
	wantStatus(t, s.post("Adjust", "k", ten), 201)
	if made := pool.Stat().NewConnsCount() - before; made > 1 {
		t.Errorf("the panic cost a connection: %d were made", made)
	}
}

// A function that ends the transaction is told so, and nothing is answered as
// done that was not recorded.
func TestPitfall_4_go(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{"COMMIT", "ROLLBACK", "COMMIT; BEGIN"} {
		t.Run(sql, func(t *testing.T) {
			s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, func(ctx context.Context, tx Tx, in adjusting) ([]any, error) {
				_, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
				return []any{in.amount, nil}, err
			})
			wantCode(t, s.post("Adjust", "k", ten), 500, "internal")
			if n := s.count(t, "SELECT (SELECT count(*) FROM idem.keys) + (SELECT 100 - balance FROM accounts WHERE id = 1)"); n != 0 {
				t.Error("a record, or the step after it, was committed")
			}
		})
	}
}

// A transaction that PostgreSQL could not serialize runs again from the claim on.
func TestGoStepRunsAgainAfterASerializationFailure(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"40001", "40P01"} {
		s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, func(ctx context.Context, tx Tx, in adjusting) ([]any, error) {
			if in.run < 3 {
				_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '"+state+"'; END $$")
				return nil, err
			}
			return []any{int64(in.run), nil}, nil
		})
		first := s.post("Adjust", "k", ten)
		wantStatus(t, first, 201)
		if !strings.HasPrefix(first.Body.String(), `{"taken":3,`) || s.count(t, "SELECT count(*) FROM jobs") != 1 {
			t.Errorf("%s: %s", state, first.Body)
		}
	}
}

// The function's context ends with the operation's timeout, and not with the
// client.
func TestGoStepIsBoundedByTheTimeout(t *testing.T) {
	t.Parallel()
	op := adjust("Adjust", ReadCommitted)
	op.Policy.Timeout, op.Policy.Wait = 200*time.Millisecond, 0
	service, err := New(idemtest.Pool(t, shopTables), shopConfig(op), shopCaller, Options{Go: map[string]GoFunc{
		"Adjust": func(ctx context.Context, _ Tx, _ func(...any) error) ([]any, error) {
			if at, ok := ctx.Deadline(); !ok || time.Until(at) > op.Policy.Timeout {
				t.Errorf("the context ends at %v", at)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, service.pools.all[0].Pool, http.NewServeMux()}
	s.mux.Handle("/Adjust/{id}", service.Handler("Adjust"))
	w := s.post("Adjust", "k", ten)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.untouched(t, 0)
}

// What a function keeps of its transaction is refused after it has returned: the
// connection is another request's by then.
func TestGoStepTransactionEndsWithTheFunction(t *testing.T) {
	t.Parallel()
	var kept Tx
	s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, func(_ context.Context, tx Tx, in adjusting) ([]any, error) {
		kept = tx
		return []any{in.amount, nil}, nil
	})
	wantStatus(t, s.post("Adjust", "k", ten), 201)
	ctx := t.Context()
	_, execErr := kept.Exec(ctx, "SELECT 1")
	_, queryErr := kept.Query(ctx, "SELECT 1")
	_, copyErr := kept.CopyFrom(ctx, pgx.Identifier{"jobs"}, nil, nil)
	batch := &pgx.Batch{}
	batch.Queue("SELECT 1")
	for name, err := range map[string]error{
		"Exec": execErr, "Query": queryErr, "CopyFrom": copyErr,
		"QueryRow": kept.QueryRow(ctx, "SELECT 1").Scan(new(int)), "SendBatch": kept.SendBatch(ctx, batch).Close(),
	} {
		if err == nil || !strings.Contains(err.Error(), "step Adjust has returned") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTxFromAnotherContext(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "no Go step") {
			t.Errorf("got %v", p)
		}
	}()
	TxFrom(t.Context())
}

// A service without one of its functions does not start, and says which.
func TestNewNamesMissingFunctions(t *testing.T) {
	t.Parallel()
	other := adjust("Other", ReadCommitted)
	other.Steps[1].Go.Func = "Elsewhere"
	pool := idemtest.Pool(t)
	_, err := New(pool, shopConfig(adjust("Adjust", ReadCommitted), other), shopCaller, Options{})
	want := "Options.Go.Adjust is nil: it is step Adjust of Adjust; Options.Go.Elsewhere is nil: it is step Adjust of Other"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
