package idem

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// told is takeJob's like: an INSERT that any key may repeat, and its event.
func told() *Operation {
	op := createPayment("CreatePayment", patience, false)
	op.Steps[0].Intent = nil
	op.SQL = strings.Replace(op.SQL, "), idem_recorded AS (", `), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.CreatePayment', 'payment.created', $9, d.order_id, $10::jsonb, row_to_json(d) FROM idem_done d
), idem_recorded AS (`, 1)
	op.SQL = strings.Replace(op.SQL, "VALUES ($1, $2, $3, $4) RETURNING *\n)", `VALUES ($1, $2, $3, $4) RETURNING *
), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $1, 'shop.CreatePayment', 'payment.created', $5, d.order_id, $6::jsonb, row_to_json(d) FROM idem_done d
)`, 1)
	event := []Arg{{From: ArgEvent, Text: "CreatePayment payment.created 1"}, {From: ArgTrace}}
	op.Steps[0].Args = append(op.Steps[0].Args, event...)
	op.Steps[0].Unkeyed = append(op.Steps[0].Unkeyed, event...)
	return op
}

// outboxSpy counts wake-ups, and runs until it is stopped.
type outboxSpy struct {
	wakes  atomic.Int64
	panics bool
	pools  chan []*pgxpool.Pool
	err    error
}

func (o *outboxSpy) Wake(...*pgxpool.Pool) {
	o.wakes.Add(1)
	if o.panics {
		panic("no")
	}
}

func (o *outboxSpy) Run(ctx context.Context, pools ...*pgxpool.Pool) error {
	o.pools <- pools
	<-ctx.Done()
	return o.err
}

// outboxShop serves operations with a dispatcher.
func outboxShop(t *testing.T, o Outbox, funcs map[string]GoFunc, ops ...*Operation) *shop {
	t.Helper()
	pool := idemtest.Pool(t, shopTables)
	service, err := New(pool, shopConfig(ops...), shopCaller, Options{Outbox: o, Go: funcs})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s
}

// outboxRow is an event as it is stored.
type outboxRow struct {
	Scope, Operation, Topic, Key string
	OrderKey, Headers            *string
	Payload                      string
}

func (s *shop) outbox(t *testing.T) []outboxRow {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `SELECT scope, operation, topic, key, order_key, headers::text, payload::text FROM idem.outbox ORDER BY created_at, key`)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[outboxRow])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// drop removes the unique index that would refuse a second payment of an order.
const drop = "ALTER TABLE payments DROP CONSTRAINT payments_order"

const aTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// One event per execution, none for a replay; its key says whose it is and never
// how it came about.
func TestAnEventPerExecution(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{}
	s := outboxShop(t, spy, nil, told())
	s.exec(t, drop)
	const body = `{"order_id": "o1", "amount": 5}`
	first := s.post("CreatePayment", "k", body, "Traceparent", aTrace, "Tracestate", "a=1", "Tracestate", "b=2")
	wantStatus(t, first, 201)
	sameAnswer(t, first, s.post("CreatePayment", "k", body))
	if spy.wakes.Load() != 1 {
		t.Errorf("woken %d times by one execution and its replay", spy.wakes.Load())
	}
	wantStatus(t, s.post("CreatePayment", "k", body, "X-Tenant", "t2"), 201)
	wantStatus(t, s.post("CreatePayment", "k2", body), 201)
	for range 2 { // each without a key is an execution
		wantStatus(t, s.post("CreatePayment", "", body), 201)
	}
	wantCode(t, s.post("CreatePayment", "k3", `{"order_id": "o1", "amount": -5}`), 422, "amount_not_positive")
	events := s.outbox(t)
	keys := map[string]bool{}
	for _, e := range events {
		keys[e.Key] = true
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(e.Key) || e.Topic != "payment.created" || e.Operation != "shop.CreatePayment" || *e.OrderKey != "o1" {
			t.Errorf("%+v", e)
		}
	}
	if len(events) != 5 || len(keys) != 5 {
		t.Fatalf("%d events with %d keys", len(events), len(keys))
	}
	if h := events[0].Headers; h == nil || *h != `{"tracestate": "a=1,b=2", "traceparent": "`+aTrace+`"}` {
		t.Errorf("headers %v", h)
	}
	if events[1].Headers != nil {
		t.Errorf("headers %s of a request without a trace", *events[1].Headers)
	}
	if spy.wakes.Load() != 5 {
		t.Errorf("woken %d times by 5 executions", spy.wakes.Load())
	}
}

// The same request has the same event key on another server: what was lost with
// its server tells of itself under one key. Nothing names a request without a key.
func TestEventKeysAreMadeOfTheRequest(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"k", ""} {
		var events [2]string
		for i := range events {
			s := outboxShop(t, nil, nil, told())
			wantStatus(t, s.post("CreatePayment", key, `{"order_id": "o1", "amount": 5}`), 201)
			events[i] = s.outbox(t)[0].Key
		}
		if same := events[0] == events[1]; same != (key != "") {
			t.Errorf("key %q: %v", key, events)
		}
	}
}

// A key whose record has expired runs again. The outbox may have the event of
// the first execution still: the second is another one, and is not lost.
func TestAnEventOfAReusedKeyIsNotLost(t *testing.T) {
	t.Parallel()
	s := outboxShop(t, nil, nil, told())
	s.exec(t, drop)
	const body = `{"order_id": "o1", "amount": 5}`
	for range 3 {
		w := s.post("CreatePayment", "k", body)
		wantStatus(t, w, 201)
		if replayed(w) {
			t.Error("replayed")
		}
		s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
	}
	events := s.outbox(t)
	if len(events) != 3 || events[0].Key == events[1].Key || events[1].Key == events[2].Key {
		t.Errorf("%+v", events)
	}
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 3 {
		t.Errorf("%d payments", n)
	}
}

// A dispatcher that panics changes nothing about an answer whose writes are
// committed.
func TestAPanickingOutboxChangesNoAnswer(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{panics: true}
	s := outboxShop(t, spy, nil, told())
	wantStatus(t, s.post("CreatePayment", "k", `{"order_id": "o1", "amount": 5}`), 201)
	if spy.wakes.Load() != 1 {
		t.Error("it was not woken")
	}
}

func TestRunRunsTheOutbox(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{pools: make(chan []*pgxpool.Pool, 1), err: errors.New("undelivered")}
	s := outboxShop(t, spy, nil, told())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	if pools := <-spy.pools; len(pools) != 1 || pools[0] != s.pool {
		t.Errorf("%v", pools)
	}
	stop()
	if err := <-ended; !errors.Is(err, spy.err) {
		t.Errorf("%v", err)
	}
}

// Twins of one request at once: one event.
func TestTwinsOfOneRequestTellOnce(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{}
	s := outboxShop(t, spy, nil, told())
	s.exec(t, drop)
	answers := make(chan *httptest.ResponseRecorder)
	const twins = 16
	for range twins {
		go func() { answers <- s.post("CreatePayment", "k", `{"order_id": "o1", "amount": 5}`) }()
	}
	for range twins {
		wantStatus(t, <-answers, 201)
	}
	if n := len(s.outbox(t)); n != 1 || spy.wakes.Load() != 1 {
		t.Errorf("%d events, %d wake-ups", n, spy.wakes.Load())
	}
}

func TestTraceContext(t *testing.T) {
	for parent, valid := range map[string]bool{
		aTrace: true, " " + aTrace + " ": true, "cc" + aTrace[2:]: true, "cc" + aTrace[2:] + "-more": true, aTrace + "-more": false,
		"cc" + aTrace[2:] + "more": false, "ff" + aTrace[2:]: false, strings.ToUpper(aTrace): false, aTrace[:54]: false, "": false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false, "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": false,
		"00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01": false, "cc" + aTrace[2:] + "-\x00": false,
	} {
		got := traceOf(t.Context(), http.Header{"Traceparent": {parent}, "Tracestate": {"a=1"}})
		if (got.Parent != "") != valid || (got.State != "") != valid {
			t.Errorf("%q: %+v", parent, got)
		}
	}
	if got := traceOf(t.Context(), http.Header{"Traceparent": {aTrace, aTrace}}); got.Parent != "" {
		t.Error("two of them are none")
	}
	for _, state := range []string{"a=\x01", strings.Repeat("x", maxTraceState+1), "a=é"} {
		if got := traceOf(t.Context(), http.Header{"Traceparent": {aTrace}, "Tracestate": {state}}); got.Parent != aTrace || got.State != "" {
			t.Errorf("%q: %+v", state, got)
		}
	}
	ctx := WithTraceContext(t.Context(), aTrace, "c=3")
	if got := traceOf(ctx, http.Header{"Traceparent": {"cc" + aTrace[2:]}}); got.Parent != aTrace || got.State != "c=3" {
		t.Errorf("the context's is not used: %+v", got)
	}
}

// What goes through Call has the trace of its context.
func TestCallKeepsTheTraceOfItsContext(t *testing.T) {
	t.Parallel()
	s := outboxShop(t, nil, nil, told())
	ctx := WithTraceContext(t.Context(), aTrace, "")
	if _, err := s.Call(ctx, "CreatePayment", []any{"t1"}, "k", []any{"o1", int64(5), nil}, nil); err != nil {
		t.Fatal(err)
	}
	var headers map[string]string
	if e := s.outbox(t); len(e) != 1 || e[0].Headers == nil || json.Unmarshal([]byte(*e[0].Headers), &headers) != nil || headers["traceparent"] != aTrace {
		t.Errorf("%+v", e)
	}
}

// Of an answer that no row was found nobody is told.
func TestNoRowWakesNobody(t *testing.T) {
	t.Parallel()
	op := charge()
	op.SQL = strings.Replace(op.SQL, "), idem_recorded AS (", `), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, payload)
  SELECT 't1', 'shop.Charge', 'charged', $9, row_to_json(d) FROM idem_done d
), idem_recorded AS (`, 1)
	op.Steps[0].Args = append(op.Steps[0].Args, Arg{From: ArgEvent, Text: "charged"})
	spy := &outboxSpy{}
	s := outboxShop(t, spy, nil, op)
	wantStatus(t, s.post("Charge", "k", `{"amount": 1000}`), 409)
	if n := len(s.outbox(t)); n != 0 || spy.wakes.Load() != 0 {
		t.Errorf("%d events, %d wake-ups", n, spy.wakes.Load())
	}
	wantStatus(t, s.post("Charge", "k2", `{"amount": 10}`), 201)
	if n := len(s.outbox(t)); n != 1 || spy.wakes.Load() != 1 {
		t.Errorf("%d events, %d wake-ups", n, spy.wakes.Load())
	}
}

// A step that runs per element has an event per element, told apart by its number.
func TestElementsHaveEventsOfTheirOwn(t *testing.T) {
	t.Parallel()
	op := placeOrder()
	op.SQL = strings.Replace(op.SQL, "VALUES ($1, $2, $3) RETURNING sku, qty)", `VALUES ($1, $2, $3) RETURNING sku, qty), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, headers, payload) SELECT $4, 'shop.PlaceOrder', 'line.added', $5, $6::jsonb, row_to_json(s) FROM idem_step s)`, 1)
	op.Steps[1].Args = append(op.Steps[1].Args, Arg{From: ArgScope}, Arg{From: ArgEvent, Text: "Line line.added 1"}, Arg{From: ArgTrace})
	spy := &outboxSpy{}
	s := outboxShop(t, spy, nil, op)
	s.exec(t, orderTables)
	const body = `{"lines": [{"sku": "b", "qty": 2}, {"sku": "a", "qty": 1}]}`
	first := s.post("PlaceOrder", "k", body)
	wantStatus(t, first, 201)
	sameAnswer(t, first, s.post("PlaceOrder", "k", body))
	wantCode(t, s.post("PlaceOrder", "k2", `{"lines": [{"sku": "b", "qty": 2}, {"sku": "a", "qty": 0}]}`), 422, "bad_quantity")
	e := s.outbox(t)
	if len(e) != 2 || spy.wakes.Load() != 1 {
		t.Fatalf("%d wake-ups, %+v", spy.wakes.Load(), e)
	}
	for i, want := range []string{`{"sku":"b","qty":2}`, `{"sku":"a","qty":1}`} {
		if e[i].Payload != want || e[i].Key != e[0].Key[:32]+"-"+string(rune('1'+i)) || e[i].Scope != "t1" {
			t.Errorf("%+v", e[i])
		}
	}
}
