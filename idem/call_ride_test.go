package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ride pays at another system between two transactions: a payment is written
// down, charged (undo: refund), notified, and its account moved.
func ride(name Name) *Operation {
	payment := Arg{From: ArgStep, Step: 0}
	return &Operation{
		Name: name, Method: http.MethodPost, Path: "/v1/rides", Status: 201, Strategy: Stepped,
		Key: Key{From: KeyHeader, Required: true}, Policy: shopPolicy(patienceTime), Fields: paymentFields,
		SQL: `
-- statement: step.Insert
WITH idem_step AS (INSERT INTO payments (tenant_id, order_id, amount, note) VALUES ($1, $2, $3, $4) RETURNING *)
SELECT d.id::text FROM idem_step d;
-- statement: step.Move
UPDATE accounts SET balance = balance - $1 WHERE id = 1;
-- statement: step.Mark
WITH idem_step AS (UPDATE payments SET status = $2, note = $3 WHERE id = $1 RETURNING *)
SELECT (SELECT row_to_json(o)::text FROM (` + paymentRow + `) o), jsonb_build_object('Location', '/v1/rides/' || d.id)::text FROM idem_step d;
`,
		Steps: []Step{
			{Name: "Insert", Section: "step.Insert", Args: fieldArgs(3, 0, 1, 2), Results: Results{Text: 1}, Writes: []string{"public.payments"}, Insert: true},
			{
				Name: "Charge", Args: []Arg{{From: ArgField, Field: 1, Kind: KindInt8}, payment, {From: ArgUUID4}},
				Call: &CallStep{
					Func: "Charge", Undo: "Refund",
					In:  []Field{{Name: "amount", Kind: KindInt8}, {Name: "payment", Kind: KindInt8}, {Name: "nonce", Kind: KindUUID}},
					Out: []GoResult{{Name: "receipt"}, {Name: "fee", Kind: KindInt8, Nullable: true}},
				},
				Errors: []ErrorRule{{Problem: Problem{402, "declined", "The card is declined"}}},
			},
			{Name: "Move", Section: "step.Move", Exec: true, Args: fieldArgs(1), Writes: []string{"public.accounts"},
				Errors: []ErrorRule{{Constraint: "accounts_balance_check", Problem: Problem{409, "overdrawn", "The account is overdrawn"}}}},
			{
				Name: "Notify", Args: []Arg{{From: ArgStep, Step: 1, Column: 0}},
				Call: &CallStep{Func: "Notify", Undo: "Withdraw", In: []Field{{Name: "receipt"}}},
			},
			{Name: "Mark", Section: "step.Mark", Args: []Arg{payment, {From: ArgLiteral, Text: "paid"}, {From: ArgStep, Step: 1, Column: 0}},
				Results: Results{Row: true, Headers: true}, Writes: []string{"public.payments"}},
		},
		Answer: Answer{Kind: "object", Members: []Member{
			{Name: "ride", Value: Answer{Kind: "step", Step: 4}},
			{Name: "fee", Value: Answer{Kind: "column", Step: 1, Column: 1}},
		}},
	}
}

// visit is one call of the other system.
type visit struct {
	what, key string // Charge, Notify, Refund, Withdraw
	n         int    // of what, from 1
	nonce     string
}

// till is the other system: it does what a key names once.
type till struct {
	mu     sync.Mutex
	visits []visit
	done   map[string]bool // by what and key
	// before and after a call takes effect; an error is that of the function.
	before, after func(ctx context.Context, v visit) error
}

func (t *till) visit(ctx context.Context, what, key, nonce string) error {
	t.mu.Lock()
	v := visit{what: what, key: key, nonce: nonce, n: 1}
	for _, old := range t.visits {
		if old.what == what {
			v.n++
		}
	}
	t.visits = append(t.visits, v)
	before, after := t.before, t.after
	t.mu.Unlock()
	if before != nil {
		if err := before(ctx, v); err != nil {
			return err
		}
	}
	t.mu.Lock()
	if t.done == nil {
		t.done = map[string]bool{}
	}
	t.done[what+" "+key] = true
	t.mu.Unlock()
	if after != nil {
		return after(ctx, v)
	}
	return nil
}

// times is how often something was asked for, and how often it took effect.
func (t *till) times(what string) (asked, done int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.visits {
		if v.what == what {
			asked++
		}
	}
	for key := range t.done {
		if len(key) > len(what) && key[:len(what)+1] == what+" " {
			done++
		}
	}
	return asked, done
}

// want checks how often the calls were made: charges, notifications, refunds,
// withdrawals; each took effect at most once.
func (t *till) want(tb testing.TB, charges, notes, refunds, withdrawals int) {
	tb.Helper()
	got := [4]int{}
	for i, what := range []string{"Charge", "Notify", "Refund", "Withdraw"} {
		var done int
		if got[i], done = t.times(what); done > 1 {
			tb.Errorf("%s took effect %d times", what, done)
		}
	}
	if want := [4]int{charges, notes, refunds, withdrawals}; got != want {
		tb.Errorf("calls: %v, want %v (charge, notify, refund, withdraw)", got, want)
	}
}

func (t *till) options() Options {
	fee := int64(3)
	return Options{
		Call: map[string]CallFunc{
			"Charge": func(ctx context.Context, key string, scan func(...any) error) ([]any, error) {
				var amount, payment int64
				var nonce string
				if err := scan(&amount, &payment, &nonce); err != nil {
					return nil, err
				}
				if amount <= 0 || payment <= 0 {
					return nil, fmt.Errorf("charged %d for payment %d", amount, payment)
				}
				return []any{"r-" + key[:8], &fee}, t.visit(ctx, "Charge", key, nonce)
			},
			"Notify": func(ctx context.Context, key string, scan func(...any) error) ([]any, error) {
				var receipt string
				if err := scan(&receipt); err != nil {
					return nil, err
				}
				return nil, t.visit(ctx, "Notify", key, receipt)
			},
		},
		Undo: map[string]UndoFunc{
			"Refund": func(ctx context.Context, key string, scan, results func(...any) error) error {
				var amount, payment int64
				var nonce, receipt string
				var fee *int64
				if err := errors.Join(scan(&amount, &payment, &nonce), results(&receipt, &fee)); err != nil {
					return err
				}
				if amount <= 0 || fee == nil || *fee != 3 {
					return fmt.Errorf("refunded %d, fee %v", amount, fee)
				}
				return t.visit(ctx, "Refund", key, receipt)
			},
			"Withdraw": func(ctx context.Context, key string, scan, results func(...any) error) error {
				return errors.Join(results(), t.visit(ctx, "Withdraw", key, ""))
			},
		},
		Completer: Completer{Poll: 20 * time.Millisecond},
	}
}

// station serves rides; every one of its services is a process of its own but for
// the till.
type station struct {
	*shop
	till *till
}

func openStation(t testing.TB, pool *pgxpool.Pool, till *till, change func(*Options), ops ...*Operation) *station {
	t.Helper()
	opts := till.options()
	if change != nil {
		change(&opts)
	}
	service, err := New(pool, shopConfig(ops...), shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &station{&shop{service, pool, http.NewServeMux()}, till}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
		if op.Async {
			s.mux.Handle("/"+string(op.Name)+"/status/{event_id}", service.StatusHandler(op.Name))
		}
	}
	return s
}

func newStation(t testing.TB, ops ...*Operation) *station {
	t.Helper()
	return openStation(t, idemtest.Pool(t, shopTables), &till{}, nil, ops...)
}

// twin is another process of the same service.
func (s *station) twin(t testing.TB, ops ...*Operation) *station {
	t.Helper()
	return openStation(t, idemtest.Open(t, s.pool.Config().ConnString(), nil), s.till, nil, ops...)
}

// run runs the service until the end of the test, or stop.
func (s *station) run(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("Run does not end")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// await returns once the query gives the number.
func (s *shop) await(t testing.TB, want int64, sql string, args ...any) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := s.count(t, sql, args...)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d, want %d", sql, got, want)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// expireLease lets the lease of the unfinished operation run out, as that of a
// process that is gone would.
func (s *shop) expireLease(t testing.TB) {
	t.Helper()
	if n := s.count(t, `WITH gone AS (UPDATE idem.work SET lease_until = clock_timestamp() - interval '1 s' WHERE lease_until IS NOT NULL RETURNING 1)
		SELECT count(*) FROM gone`); n == 0 {
		t.Fatal("there is no lease")
	}
}

// settled checks that one ride was paid, and nothing of it is left but its record.
func (s *station) settled(t testing.TB) {
	t.Helper()
	if n := s.count(t, "SELECT count(*) FROM payments WHERE status = 'paid'"); n != 1 {
		t.Errorf("%d payments are paid", n)
	}
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d payments", n)
	}
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 95 {
		t.Errorf("the balance is %d", n)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work"); n != 0 {
		t.Errorf("%d unfinished", n)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE status <> 0 AND expires_at < 'infinity'"); n != 1 {
		t.Errorf("%d records", n)
	}
	for _, what := range []string{"Charge", "Notify"} {
		if _, done := s.till.times(what); done != 1 {
			t.Errorf("%s took effect %d times", what, done)
		}
	}
}
