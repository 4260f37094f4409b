package idem

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// witness is an observer that keeps what it is told.
type witness struct {
	mu      sync.Mutex
	starts  []OperationStart
	ends    []OperationEnd
	retries []OperationRetry
	ended   chan struct{} // one token per end
}

func newWitness() *witness { return &witness{ended: make(chan struct{}, 99)} }

type witnessKey struct{}

func (w *witness) OperationStarted(ctx context.Context, start OperationStart) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts = append(w.starts, start)
	return context.WithValue(ctx, witnessKey{}, w)
}

func (w *witness) OperationEnded(ctx context.Context, end OperationEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Value(witnessKey{}) != w {
		end.Code = "not the context of the start"
	}
	w.ends = append(w.ends, end)
	w.ended <- struct{}{}
}

func (w *witness) OperationRetried(_ context.Context, retry OperationRetry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retries = append(w.retries, retry)
}

// within waits for what is about to come, longer than any machine needs.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return v
}

// take waits for an end, and gives it if it is the only one since the last call.
func (w *witness) take(t *testing.T) (OperationEnd, []OperationRetry) {
	t.Helper()
	within(t, w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ends) != 1 || len(w.starts) != 1 {
		t.Fatalf("%d starts and ends %+v, not one", len(w.starts), w.ends)
	}
	end, retries := w.ends[0], w.retries
	if end.OperationStart != w.starts[0] {
		t.Errorf("%+v started as %+v", end, w.starts[0])
	}
	w.starts, w.ends, w.retries = nil, nil, nil
	return end, retries
}

func watchedShop(t *testing.T, pool *pgxpool.Pool, opts Options, ops ...*Operation) (*shop, *witness) {
	t.Helper()
	seen := newWitness()
	if opts.Observer == nil {
		opts.Observer = seen
	}
	service, err := New(pool, shopConfig(ops...), func(r *http.Request) ([]any, error) {
		if r.Header.Get("X-Tenant") == "panic" {
			panic("who is this")
		}
		return shopCaller(r)
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s, seen
}

// outcome is a way for a request to end, and what the observer is told of it.
type outcome struct {
	name     string
	do       func() int // gives the status that the client sees
	event    Event
	status   int
	code     string
	strategy Strategy
	attempts int
	keyless  bool
}

// The table of docs/operations.md, walked on a real server.
func TestEveryOutcomeIsOneEvent(t *testing.T) {
	kept := createPayment("Kept", "2000ms", true)
	kept.Policy.ServerError = time.Hour
	returning := createPayment("Returning", "2000ms", true)
	intent := *returning.Steps[0].Intent
	intent.Return, intent.Args = true, fieldArgs(3, 0, 1)
	returning.Steps[0].Intent = &intent
	barred := func(_ context.Context, _ Name, caller []any) error {
		if caller[0] == "barred" {
			return errors.New("not any more")
		}
		return nil
	}
	forced := forceable(transfer("Forced", ReadCommitted))
	s, seen := watchedShop(t, idemtest.Pool(t, shopTables, "INSERT INTO jobs DEFAULT VALUES"), Options{AuthorizeReplay: barred},
		forced, createPayment("Create", "2000ms", true), createPayment("Reject", "", true), createPayment("Loose", "2000ms", false),
		charge(), takeJob(), transfer("Transfer", ReadCommitted), getPayment(), kept, returning)
	post := func(name Name, key, body string, headers ...string) func() int {
		return func() int { return s.post(name, key, body, headers...).Code }
	}
	read := func(id string) func() int {
		return func() int { return s.call("GetPayment", http.MethodGet, id, "").Code }
	}
	broken := func(do func() int) func() int {
		return func() int {
			s.exec(t, "ALTER TABLE payments RENAME TO hidden")
			defer s.exec(t, "ALTER TABLE hidden RENAME TO payments")
			return do()
		}
	}
	const o2, o3 = `{"order_id": "o2", "amount": 5}`, `{"order_id": "o3", "amount": 5}`
	for _, c := range []outcome{
		{"fused", post("Create", "k1", order1), EventNew, 201, "", Fused, 1, false},
		{"its replay", post("Create", "k1", order1), EventDuplicate, 201, "", Fused, 1, false},
		{"verbatim", post("TakeJob", "k1", ""), EventNew, 200, "", Verbatim, 1, false},
		{"its replay", post("TakeJob", "k1", ""), EventDuplicate, 200, "", Verbatim, 1, false},
		{"verbatim, no row", post("TakeJob", "k2", ""), EventClientError, 404, "", Verbatim, 1, false},
		{"stepped", post("Transfer", "k1", `{"from": 1, "to": 2, "amount": 1}`), EventNew, 201, "", Stepped, 1, false},
		{"its replay", post("Transfer", "k1", `{"from": 1, "to": 2, "amount": 1}`), EventDuplicate, 201, "", Stepped, 1, false},
		{"stepped, a requirement", post("Transfer", "k2", `{"from": 1, "to": 2, "amount": 1000}`), EventClientError, 402, "insufficient_funds", Stepped, 1, false},
		{"without a key", post("Loose", "", o2), EventNew, 201, "", Fused, 1, true},
		{"a read", read("1"), EventNew, 200, "", Direct, 1, true},
		{"a read of nothing", read("99"), EventClientError, 404, "", Direct, 1, true},
		{"another payload", post("Create", "k1", o2), EventMismatch, 422, "key-reused", Fused, 1, false},
		{"the intent under another key", post("Create", "k2", order1), EventConflict, 409, "intent-conflict", Fused, 1, false},
		{"its replay", post("Create", "k2", order1), EventDuplicate, 409, "", Fused, 1, false},
		{"the intent, as the answer", post("Returning", "k1", order1), EventConflict, 201, "", Fused, 1, false},
		{"the intent of another row", post("Returning", "k2", `{"order_id": "o1", "amount": 6}`), EventConflict, 409, "intent-conflict", Fused, 1, false},
		{"in flight", func() int {
			end := hold(t, s.pool, "SELECT pg_advisory_xact_lock($1)", lockOf("t1", "shop.Reject", "k1"))
			defer end(false)
			return s.post("Reject", "k1", o3).Code
		}, EventProcessing, 409, "in-flight", Fused, 1, false},
		{"forced, without a record", post("Forced", "k1", `{"from": 1, "to": 2, "amount": 1}`, forceHeader, "true"), EventForceRetry, 201, "", Stepped, 1, false},
		{"forced", post("Forced", "k1", `{"from": 1, "to": 2, "amount": 1}`, forceHeader, "true"), EventForceRetry, 201, "", Stepped, 1, false},
		{"its replay", post("Forced", "k1", `{"from": 1, "to": 2, "amount": 1}`), EventDuplicate, 201, "", Stepped, 1, false},
		{"forced, a requirement", post("Forced", "k1", `{"from": 1, "to": 2, "amount": 1000}`, forceHeader, "true"), EventClientError, 402, "insufficient_funds", Stepped, 1, false},
		{"forced, but it can't be", post("Create", "k1", order1, forceHeader, "true"), EventClientError, 400, "force-retry-refused", Fused, 0, true},
		{"before a replay is barred", post("Create", "k9", `{"order_id": "o9", "amount": 5}`, "X-Tenant", "barred"), EventNew, 201, "", Fused, 1, false},
		{"a replay that is barred", post("Create", "k9", `{"order_id": "o9", "amount": 5}`, "X-Tenant", "barred"), EventClientError, 403, "forbidden", Fused, 1, false},
		{"a declared constraint", post("Create", "k3", `{"order_id": "o3", "amount": -5}`), EventClientError, 422, "amount_not_positive", Fused, 1, false},
		{"no row", post("Charge", "k1", `{"amount": 1000}`), EventClientError, 409, "", Fused, 1, false},
		{"a requirement", post("Charge", "k2", `{"amount": 95}`), EventClientError, 409, "too_large", Fused, 1, false},
		{"its replay", post("Charge", "k2", `{"amount": 95}`), EventDuplicate, 409, "", Fused, 1, false},
		{"a record without its body", func() int {
			s.exec(t, "UPDATE idem.keys SET body = NULL WHERE key = 'k1' AND operation = 'shop.Create'")
			return s.post("Create", "k1", order1).Code
		}, EventDuplicate, 409, "response-not-stored", Fused, 1, false},
		{"nobody", post("Create", "k4", o3, "X-Tenant", "nobody"), EventClientError, 401, "unauthenticated", Fused, 0, true},
		{"method", func() int { return s.call("Create", http.MethodPut, "1", order1).Code }, EventClientError, 405, "method-not-allowed", Fused, 0, true},
		{"media type", post("Create", "k4", o3, "Content-Type", "text/plain"), EventClientError, 415, "media-type", Fused, 0, true},
		{"syntax", post("Create", "k4", `{"order_id`), EventClientError, 400, "body-malformed", Fused, 0, true},
		{"size", post("Create", "k4", `{"note": "`+strings.Repeat("x", 1<<20)+`"}`), EventClientError, 413, "body-too-large", Fused, 0, true},
		{"type", post("Create", "k4", `{"order_id": "o3", "amount": "x"}`), EventClientError, 422, "input-invalid", Fused, 0, true},
		{"check", post("Create", "k4", `{"order_id": "o3"}`), EventClientError, 422, "input-invalid", Fused, 0, false},
		{"no key", post("Create", "", o3), EventClientError, 400, "key-missing", Fused, 0, true},
		{"key", post("Create", "a b", o3), EventClientError, 400, "key-invalid", Fused, 0, true},
		{"panic of the caller function", post("Create", "k4", o3, "X-Tenant", "panic"), EventServerError, 500, "internal", Fused, 0, true},
		{"fault", broken(post("Create", "k5", o3)), EventServerError, 500, "internal", Fused, 1, false},
		{"recorded fault", broken(post("Kept", "k5", o3)), EventServerError, 500, "internal", Fused, 1, false},
		{"its replay", broken(post("Kept", "k5", o3)), EventDuplicate, 500, "", Fused, 1, false},
		{"from Go", call(t, s, "k6", "o6"), EventNew, 201, "", Fused, 1, false},
		{"its replay", call(t, s, "k6", "o6"), EventDuplicate, 201, "", Fused, 1, false},
		{"from Go, a key", call(t, s, "a b", "o6"), EventClientError, 400, "key-invalid", Fused, 0, true},
	} {
		t.Run(string(c.strategy)+" "+c.name, func(t *testing.T) { c.check(t, seen) })
	}
	s.pool.Close()
	c := outcome{"no database", post("Create", "k7", o3), EventServerError, 503, "unavailable", Fused, 2, false}
	c.check(t, seen)
}

func (c *outcome) check(t *testing.T, seen *witness) {
	t.Helper()
	if got := c.do(); got != c.status {
		t.Fatalf("status %d, want %d", got, c.status)
	}
	end, _ := seen.take(t)
	if end.Event != c.event || end.Status != c.status || end.Code != c.code || end.Strategy != c.strategy ||
		end.Attempts != c.attempts || (end.KeyDigest == "") != c.keyless || end.Abandoned || end.Duration <= 0 || end.Service != "shop" {
		t.Errorf("%+v, want %+v", end, c)
	}
}

// The other profiles answer two outcomes in another way.
func TestEventsOfTheProfiles(t *testing.T) {
	t.Parallel()
	for profile, c := range map[Profile]struct{ mismatch, inFlight int }{ProfileStripe: {400, 409}, ProfileGateway: {422, 200}} {
		pool, seen := idemtest.Pool(t, shopTables), newWitness()
		config := shopConfig(createPayment("Reject", "", true))
		config.Profile = profile
		service, err := New(pool, config, shopCaller, Options{Observer: seen})
		if err != nil {
			t.Fatal(err)
		}
		post := func(key, body string) int {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(protocols[profile].keyHeader, key)
			w := httptest.NewRecorder()
			service.Handler("Reject").ServeHTTP(w, r)
			return w.Code
		}
		post("key-1", order1)
		seen.take(t)
		mismatch := outcome{"mismatch", func() int { return post("key-1", `{"order_id": "o2", "amount": 5}`) }, EventMismatch, c.mismatch, "key-reused", Fused, 1, false}
		mismatch.check(t, seen)
		end := hold(t, pool, "SELECT pg_advisory_xact_lock($1)", lockOf("t1", "shop.Reject", "key-2"))
		inFlight := outcome{"in flight", func() int { return post("key-2", order1) }, EventProcessing, c.inFlight, "in-flight", Fused, 1, false}
		inFlight.check(t, seen)
		end(false)
	}
}

// call is a call of Create from Go.
func call(t *testing.T, s *shop, key, order string) func() int {
	return func() int {
		meta, err := s.Call(t.Context(), "Create", []any{"t1"}, key, []any{order, int64(5), nil}, nil)
		var refused *Error
		if err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
		return meta.Status
	}
}

// Each reason for another attempt, once.
func TestEveryRetryIsObserved(t *testing.T) {
	t.Parallel()
	fail := func(table, raise string) string {
		return `CREATE SEQUENCE tries; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('tries') = 1 THEN RAISE EXCEPTION USING ` + raise + `; END IF; RETURN NEW; END $$;
			CREATE TRIGGER fail BEFORE INSERT ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION fail()`
	}
	for reason, c := range map[RetryReason]struct{ state, sql string }{
		RetrySerialization:  {"40001", fail("payments", "ERRCODE = '40001'")},
		RetryDeadlock:       {"40P01", fail("payments", "ERRCODE = '40P01'")},
		RetryStaleStatement: {"26000", fail("payments", "ERRCODE = '26000'")},
		RetryVanished:       {"23505", fail("idem.keys", "ERRCODE = '23505', SCHEMA = 'idem', TABLE = 'keys'")},
		RetryUnsent:         {"", ""},
		RetryLostConnection: {"", ""},
	} {
		t.Run(string(reason), func(t *testing.T) {
			url := idemtest.URL(t, shopTables, c.sql)
			cut := &cutter{text: strconv.FormatInt(lockOf("t1", "shop.Transfer", "k1"), 10)} // as BEGIN goes
			cut.armed.Store(reason == RetryLostConnection)
			pool := cuttingPool(t, url, cut)
			if reason == RetryUnsent {
				refuse := true
				pool = idemtest.Open(t, url, func(config *pgxpool.Config) {
					config.MaxConns = 1
					config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
						if refuse {
							refuse = false
							return errors.New("not now")
						}
						return nil
					}
				})
			}
			s, seen := watchedShop(t, pool, Options{}, createPayment("Create", "2000ms", true), transfer("Transfer", ReadCommitted))
			name, body := Name("Create"), order1
			if reason == RetryLostConnection {
				name, body = "Transfer", `{"from": 1, "to": 2, "amount": 1}`
			}
			wantStatus(t, s.post(name, "k1", body), 201)
			end, retries := seen.take(t)
			want := []OperationRetry{{OperationStart: end.OperationStart, Reason: reason, SQLState: c.state, Attempt: 1}}
			if end.Event != EventNew || end.Attempts != 2 || !reflect.DeepEqual(retries, want) {
				t.Errorf("%+v after %+v", end, retries)
			}
		})
	}
}

// A client that goes away: the work goes on, and its end is told.
func TestAbandonedWorkIsObserved(t *testing.T) {
	s, seen := watchedShop(t, idemtest.Pool(t, shopTables), Options{}, charge())
	end := hold(t, s.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/Charge/1", strings.NewReader(`{"amount": 1}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(keyHeader, "k1")
	done := make(chan struct{})
	go func() {
		s.mux.ServeHTTP(httptest.NewRecorder(), r)
		close(done)
	}()
	awaitBlocked(t, s)
	cancel()
	end(true)
	<-done
	if end, _ := seen.take(t); end.Event != EventNew || end.Status != 201 || !end.Abandoned {
		t.Errorf("%+v", end)
	}
}

// deaf is a client that breaks off when the answer comes.
type deaf struct{ http.ResponseWriter }

func (deaf) WriteHeader(int) { panic(http.ErrAbortHandler) }

func TestAnswerThatCanNotBeSentIsOneEvent(t *testing.T) {
	s, seen := watchedShop(t, idemtest.Pool(t, shopTables), Options{}, charge())
	r := httptest.NewRequest(http.MethodPost, "/Charge/1", strings.NewReader(`{"amount": 1}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(keyHeader, "k1")
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("the server was not told: %v", p)
			}
		}()
		s.mux.ServeHTTP(deaf{httptest.NewRecorder()}, r)
	}()
	if end, _ := seen.take(t); end.Event != EventNew || end.Status != 201 {
		t.Errorf("%+v", end)
	}
}

// pgx tracers nest in what the start hook gives.
type queryTracer struct{ strangers, friends int }

func (q *queryTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if ctx.Value(witnessKey{}) == nil {
		q.strangers++
	} else {
		q.friends++
	}
	return ctx
}

func (*queryTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestStatementsRunInTheContextOfTheStart(t *testing.T) {
	tracer := &queryTracer{}
	pool := idemtest.Open(t, idemtest.URL(t, shopTables), func(config *pgxpool.Config) { config.ConnConfig.Tracer = tracer })
	s, _ := watchedShop(t, pool, Options{}, createPayment("Create", "2000ms", true), charge(), transfer("Transfer", Serializable))
	wantStatus(t, s.post("Create", "k1", order1), 201)
	wantStatus(t, s.post("Create", "k2", order1), 409)
	wantStatus(t, s.post("Charge", "k1", `{"amount": 95}`), 409)
	wantStatus(t, s.post("Transfer", "k1", `{"from": 1, "to": 2, "amount": 1}`), 201)
	if tracer.strangers > 0 || tracer.friends < 8 {
		t.Errorf("%d statements without the context, %d with it", tracer.strangers, tracer.friends)
	}
}
