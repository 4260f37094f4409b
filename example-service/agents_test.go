package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/idem/outbox"

	"example.com/payments/internal/db"
)

// step is one step of an agent's plan.
type step struct{ tool, arguments string }

// loop is an agent's loop, which knows nothing but its session: it takes the plan
// from the start and ends, with what it holds, after so many calls.
func loop(t *testing.T, c *client, session string, plan []step, calls int) []said {
	t.Helper()
	var out []said
	for i, s := range plan[:calls] {
		out = append(out, c.result(t, s.tool, sdk.Meta{"session": session, "step": fmt.Sprint(i + 1)}, s.arguments))
	}
	return out
}

// An agent that is restarted after every step, in another process each time and
// before it could note what the tool said, repeats its steps under new ids of tool
// calls: it gets what was recorded, and every step has one effect.
func TestCase_tool_1_AnAgentRestartedAtEveryStep(t *testing.T) {
	both := twoServices(t)
	c := both[0].as(t, "acme")
	payment := c.payment(t, "order-9")
	plan := []step{
		{"issue_invoice", invoiceOf("order-1")},
		{"capture_payment", `{"id": ` + payment + `}`},
		{"issue_invoice", invoiceOf("order-2")},
		{"issue_invoice", invoiceOf("order-3")},
	}
	var first []said
	for run := range len(plan) + 1 {
		got := loop(t, c.via(both[run%2]), "run-7", plan, min(run+1, len(plan)))
		for i, s := range got {
			if i < len(first) && (s.text != first[i].text || !s.replayed) {
				t.Errorf("restart %d, step %d: %+v, first %+v", run, i+1, s, first[i])
			}
			if i >= len(first) && s.replayed {
				t.Errorf("step %d was not done before: %+v", i+1, s)
			}
		}
		first = append(first, got[len(first):]...)
	}
	effects := func(table string) int64 { return query[int64](t, c.pool, "SELECT count(*) FROM "+table) }
	if invoices, steps, told := effects("invoices"), effects("agent_steps"), effects("idem.outbox WHERE topic IN ('invoice.issued', 'payment.captured')"); invoices != 3 || steps != 3 || told != 4 {
		t.Errorf("%d invoices, %d steps, %d events", invoices, steps, told)
	}
	// The same plan in another run is another effect, and refused by the intent.
	c.failure(t, "intent-conflict", "issue_invoice", sdk.Meta{"session": "run-8", "step": "1"}, plan[0].arguments)
}

// Two hosts that repeat a step at the same moment have one effect and one result.
func TestTwoHostsOfOneStep(t *testing.T) {
	both := twoServices(t)
	c := both[0].as(t, "acme")
	got := make(chan said)
	for i := range 8 {
		go func() {
			got <- c.via(both[i%2]).call(t, "issue_invoice", sdk.Meta{"session": "s", "step": 1}, invoiceOf("order-1"))
		}()
	}
	texts := map[string]int{}
	for range 8 {
		texts[(<-got).text]++
	}
	if len(texts) != 1 || query[int64](t, c.pool, "SELECT count(*) FROM invoices") != 1 {
		t.Errorf("%v", texts)
	}
}

// Invoice, agent step, event and key are one transaction; event and step are
// PROCESSED by the dispatcher.
func TestAgentStepEventAndKeyAreOneTransaction(t *testing.T) {
	c := newService(t).as(t, "acme")
	meta := sdk.Meta{"session": "s", "step": "1"}
	execute(t, c.pool, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = 'XX000'; END $$`)
	execute(t, c.pool, `CREATE TRIGGER refuse BEFORE INSERT ON agent_steps FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if f := c.failure(t, "internal", "issue_invoice", meta, invoiceOf("order-1")); !f.Retryable || f.Status != 500 {
		t.Errorf("%+v", f)
	}
	const all = "SELECT (SELECT count(*) FROM invoices) + (SELECT count(*) FROM agent_steps) + (SELECT count(*) FROM idem.outbox) + (SELECT count(*) FROM idem.keys)"
	if n := query[int64](t, c.pool, all); n != 0 {
		t.Errorf("%d rows of a step that failed", n)
	}
	execute(t, c.pool, "DROP TRIGGER refuse ON agent_steps")
	if s := c.result(t, "issue_invoice", meta, invoiceOf("order-1")); s.replayed {
		t.Error("a failure was recorded")
	}
	if n := query[int64](t, c.pool, all); n != 4 {
		t.Errorf("%d rows of a step", n)
	}
	statuses := func() string {
		return query[string](t, c.pool, "SELECT (SELECT status FROM agent_steps) || ' ' || (SELECT status FROM idem.outbox)")
	}
	if got := statuses(); got != "AWAITING_EXTERNAL_DISPATCH PENDING" {
		t.Errorf("%s", got)
	}
	dispatched(t, c.service)
	if got := statuses(); got != "PROCESSED PROCESSED" {
		t.Errorf("%s", got)
	}
	steps, err := db.New(c.pool).AgentSteps(t.Context(), "acme")
	if err != nil || len(steps) != 1 || steps[0].Tool != "issue_invoice" || len(steps[0].Key) != 64 {
		t.Errorf("%+v, %v", steps, err)
	}
	if found := c.result(t, "find_invoices", nil, `{"order_id": "order-1"}`); !strings.Contains(found.text, `"dispatch":"PROCESSED"`) {
		t.Errorf("%s", found.text)
	}
}

// dispatched runs a dispatcher until an event has ended.
func dispatched(t *testing.T, s *service) {
	t.Helper()
	d := newDispatcher(nil, db.New(s.pool), s.client)
	d.Sinks["*"] = outbox.Func(func(context.Context, outbox.Event) error { return nil })
	d.Sinks["invoice.issued"] = processed{d.Sinks["*"], db.New(s.pool)}
	ended := make(chan outbox.End, 1)
	d.Ended = func(_ context.Context, _ outbox.Event, end outbox.End) { ended <- end }
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx, s.pool) }()
	select {
	case <-ended:
	case err := <-done:
		t.Fatalf("the dispatcher ended: %v", err)
	}
	stop()
	<-done
}

// A step that can't be marked keeps its event: it is delivered again.
func TestAStepThatIsNotMarkedKeepsItsEvent(t *testing.T) {
	c := newService(t).as(t, "acme")
	c.result(t, "issue_invoice", sdk.Meta{"idempotencyKey": "k"}, invoiceOf("order-1"))
	delivered := outbox.Func(func(context.Context, outbox.Event) error { return nil })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e := outbox.Event{Scope: "acme", Payload: []byte(`{"id": 1}`)}
	if _, err := (processed{delivered, db.New(c.pool)}).Deliver(gone, e); err == nil {
		t.Error("an event was done whose step is not")
	}
}

// What is recorded is the session's and the tenant's: nobody else gets it, or is
// kept from the same key by it.
func TestToolResultsAreOfTheirSession(t *testing.T) {
	s := newService(t)
	acme, other := s.as(t, "acme"), s.as(t, "other")
	key := func(session string) sdk.Meta {
		meta := sdk.Meta{"idempotencyKey": "k"}
		if session != "" {
			meta["session"] = session
		}
		return meta
	}
	seen := map[string]bool{}
	for i, in := range []struct {
		c    *client
		meta sdk.Meta
	}{{acme, key("")}, {acme, key("s1")}, {acme, key("s2")}, {other, key("")}, {other, key("s1")}} {
		order := invoiceOf(fmt.Sprint("order-", i))
		got := in.c.result(t, "issue_invoice", in.meta, order)
		if got.replayed || seen[got.text] {
			t.Errorf("%d: %+v is another session's", i, got)
		}
		seen[got.text] = true
		if again := in.c.result(t, "issue_invoice", in.meta, order); !again.replayed || again.text != got.text {
			t.Errorf("%d: %+v, first %+v", i, again, got)
		}
	}
	// A key is for one payload.
	if f := acme.failure(t, "key-reused", "issue_invoice", key("s1"), invoiceOf("order-17")); f.Retryable || f.Status != 422 {
		t.Errorf("%+v", f)
	}
}

// A tool that writes has a key, or is refused with the way to one; reads have none.
func TestAToolThatWritesNeedsAKey(t *testing.T) {
	c := newService(t).as(t, "acme")
	f := c.failure(t, "key-missing", "issue_invoice", nil, invoiceOf("order-1"))
	if f.Retryable || !strings.Contains(f.Detail, "_meta") || !strings.Contains(f.Detail, "idempotency_key") {
		t.Errorf("%+v", f)
	}
	withKey := `{"order_id": "order-1", "amount": 1250, "currency": "EUR", "idempotency_key": "invoice-order-1"}`
	c.failure(t, "key-conflict", "issue_invoice", sdk.Meta{"idempotencyKey": "another"}, withKey)
	c.failure(t, "step-incomplete", "issue_invoice", sdk.Meta{"session": "s"}, invoiceOf("order-1"))
	c.failure(t, "meta-invalid", "issue_invoice", sdk.Meta{"idempotencyKey": 7.5}, invoiceOf("order-1"))
	c.failure(t, "key-invalid", "issue_invoice", sdk.Meta{"idempotencyKey": "a b"}, invoiceOf("order-1"))
	if n := query[int64](t, c.pool, "SELECT count(*) FROM invoices"); n != 0 {
		t.Fatalf("%d invoices of calls without a key", n)
	}
	first := c.result(t, "issue_invoice", nil, withKey)
	if again := c.result(t, "issue_invoice", sdk.Meta{"idempotencyKey": "invoice-order-1"}, invoiceOf("order-1")); !again.replayed || again.text != first.text {
		t.Errorf("the same key in _meta: %+v, first %+v", again, first)
	}
	c.result(t, "find_invoices", nil, "{}")
}

// Errors say what is wrong with which argument, and whether to try again.
func TestToolErrorsSayWhetherToTryAgain(t *testing.T) {
	c := newService(t).as(t, "acme")
	f := c.failure(t, "input-invalid", "issue_invoice", sdk.Meta{"idempotencyKey": "k"}, `{"order_id": "", "amount": 0, "currency": "EUR"}`)
	var at []string
	for _, e := range f.Errors {
		at = append(at, e.Pointer)
	}
	if slices.Sort(at); f.Retryable || f.Status != 422 || strings.Join(at, " ") != "/amount /order_id" {
		t.Errorf("%+v", f)
	}
	if f := c.failure(t, "input-invalid", "capture_payment", sdk.Meta{"idempotencyKey": "k"}, `{"id": "seven"}`); len(f.Errors) != 1 || f.Errors[0].Pointer != "/id" {
		t.Errorf("of a path's parameter: %+v", f)
	}
	if f := c.failure(t, "not_authorized", "capture_payment", sdk.Meta{"idempotencyKey": "k"}, `{"id": 7}`); f.Retryable || f.Status != 409 {
		t.Errorf("declared: %+v", f)
	}
	c.failure(t, "member-unknown", "get_payment", nil, `{"id": 7, "ID": 7}`)

	// While a twin runs, and where the database is gone: try again.
	tx, err := c.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "LOCK TABLE invoices IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan said)
	ask := func() said {
		return c.call(t, "issue_invoice", sdk.Meta{"idempotencyKey": "busy"}, invoiceOf("order-1"))
	}
	go func() { blocked <- ask() }()
	awaitBlocked(t, c.pool, 1)
	if f := c.failure(t, "in-flight", "issue_invoice", sdk.Meta{"idempotencyKey": "busy"}, invoiceOf("order-1")); !f.Retryable || f.RetryAfter < 1 {
		t.Errorf("%+v", f)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-blocked; got.failed {
		t.Errorf("%+v", got)
	}
}

// A call by a tool and a request by HTTP with one key are one.
func TestToolsAndHTTPShareRecords(t *testing.T) {
	c := newService(t).as(t, "acme")
	id := c.payment(t, "order-1")
	over := c.post(t, "/v1/payments/"+id+"/capture", "k", "")
	over.must(t, 200)
	got := c.result(t, "capture_payment", sdk.Meta{"idempotencyKey": "k"}, `{"id": `+id+`}`)
	if !got.replayed || got.text != over.body {
		t.Errorf("%+v, over HTTP %s", got, over.body)
	}
	if read := c.result(t, "get_payment", nil, `{"id": `+id+`}`); read.text != c.get(t, "/v1/payments/"+id).body {
		t.Errorf("%s", read.text)
	}
}

// What is a tool alone has no route, and nobody is an agent without an API key.
func TestToolsAreBehindTheServicesAuthentication(t *testing.T) {
	c := newService(t).as(t, "acme")
	nobody := &client{c.service, "", "wrong"}
	_, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: c.url + "/mcp", HTTPClient: c.http, DisableStandaloneSSE: true}, nil)
	if err == nil {
		t.Error("somebody without a key is connected")
	}
	if a := nobody.post(t, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); a.status != 401 {
		t.Errorf("%d", a.status)
	}
	if err := c.api.Mount(chi.NewRouter(), "IssueInvoice"); err == nil {
		t.Error("a tool alone was mounted")
	}
}
