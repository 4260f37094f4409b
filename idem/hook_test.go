package idem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// parcel is the shop's payment, made by deliveries of a courier.
func parcel(name Name, types ...string) *Operation {
	op := createPayment(name, patience, true)
	op.Path, op.Key, op.Webhook = "/webhooks/courier", Key{From: KeyDelivery}, Webhook{System: "courier", Types: types}
	op.Status = http.StatusOK
	return op
}

// courier trusts whoever knows the word; the delivery stands in headers.
func courier(r *http.Request, _ []byte) (Delivery, error) {
	switch r.Header.Get("Word") {
	case "sesame":
	case "panic":
		panic("the verifier is broken")
	case "later":
		return Delivery{}, Fail(http.StatusServiceUnavailable, "later", "")
	default:
		return Delivery{}, errors.New("the word is wrong")
	}
	return Delivery{ID: r.Header.Get("Delivery"), Type: r.Header.Get("Type"), Scope: r.Header.Get("For")}, nil
}

// ends gathers what an observer is told.
type ends struct {
	mu  sync.Mutex
	all []OperationEnd
}

func (e *ends) OperationEnded(_ context.Context, end OperationEnd) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, end)
}

func (e *ends) last(t *testing.T) OperationEnd {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.all) == 0 {
		t.Fatal("nothing was told")
	}
	return e.all[len(e.all)-1]
}

type depot struct {
	*Service
	handler http.Handler
	told    *ends
	log     *strings.Builder
	count   func(t *testing.T) int
}

func openDepot(t *testing.T, change func(*Config, *Options), ops ...*Operation) depot {
	t.Helper()
	pool := idemtest.Pool(t, shopTables)
	d := depot{told: &ends{}, log: &strings.Builder{}}
	cfg, opts := shopConfig(ops...), Options{
		Webhooks: map[string]Verifier{"courier": VerifierFunc(courier)}, Observer: d.told,
		Logger: slog.New(slog.NewTextHandler(d.log, nil)),
	}
	if change != nil {
		change(&cfg, &opts)
	}
	var err error
	if d.Service, err = New(pool, cfg, shopCaller, opts); err != nil {
		t.Fatal(err)
	}
	d.handler = d.Handler(ops[0].Name)
	d.count = func(t *testing.T) (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM payments").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	return d
}

// send delivers; headers are name, value, ….
func (d depot) send(body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/courier", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

func (d depot) deliver(id, kind, body string) *httptest.ResponseRecorder {
	return d.send(body, "Word", "sesame", "Delivery", id, "Type", kind)
}

const parcelBody = `{"order_id": "o1", "amount": 5, "unused": {"a": [1]}}`

// In every profile: the first answer, its replay, and an other type of the same id.
func TestWebhookDeliveryRunsOnce(t *testing.T) {
	t.Parallel()
	for profile := range protocols {
		d := openDepot(t, func(c *Config, _ *Options) { c.Profile = profile }, parcel("Sent", "sent"), parcel("Other"))
		first := d.deliver("1", "sent", parcelBody)
		wantStatus(t, first, http.StatusCreated) // what the shop's SQL says
		again := d.deliver("1", "sent", parcelBody)
		if again.Code != first.Code || again.Body.String() != first.Body.String() || d.told.last(t).Event != EventDuplicate {
			t.Errorf("%s: %d %s", profile, again.Code, again.Body)
		}
		wantStatus(t, d.deliver("2", "sent", strings.Replace(parcelBody, "o1", "o2", 1)), http.StatusCreated)
		wantStatus(t, d.deliver("1", "anything", strings.Replace(parcelBody, "o1", "o3", 1)), http.StatusCreated)
		if got := d.told.last(t).Operation; got != "Other" {
			t.Errorf("%s: the rest went to %s", profile, got)
		}
		if n := d.count(t); n != 3 {
			t.Errorf("%s: %d payments", profile, n)
		}
	}
}

// No profile may tell a system that a delivery is done which is only running: it would
// never be sent again.
func TestWebhookTwinOfARunningDeliveryIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	for profile := range protocols {
		op := parcel("Sent")
		op.Policy.Wait = 0
		d := openDepot(t, func(c *Config, _ *Options) { c.Profile = profile }, op)
		inv, _, refused := d.admit(d.operations["Sent"], "courier")
		if refused != nil {
			t.Fatal(refused)
		}
		inv.protect("webhook-courier-1")
		leave, ok := d.flights.enter(t.Context(), identity{inv.scope, string(inv.digest)}, 0)
		if !ok {
			t.Fatal("somebody runs already")
		}
		w := d.deliver("1", "sent", parcelBody)
		if w.Code != http.StatusConflict || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", profile, w.Code, w.Body)
		}
		if got := d.told.last(t).Event; got != EventProcessing {
			t.Errorf("%s: told %s", profile, got)
		}
		leave()
		wantStatus(t, d.deliver("1", "sent", parcelBody), http.StatusCreated)
	}
}

func TestWebhookDeliveriesOfNoOperationAreIgnored(t *testing.T) {
	t.Parallel()
	d := openDepot(t, nil, parcel("Sent", "sent"))
	w := d.deliver("1", "lost", "not even JSON")
	if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if end := d.told.last(t); end.Event != EventIgnored || end.Operation != "webhook-courier" || end.Status != http.StatusNoContent {
		t.Errorf("told %+v", end)
	}
}

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	d := openDepot(t, nil, parcel("Sent"))
	for name, c := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
		code   string
	}{
		"wrong word":   {d.send(parcelBody, "Word", "guess", "Delivery", "1"), 401, "unauthenticated"},
		"its own":      {d.send(parcelBody, "Word", "later"), 503, "later"},
		"panic":        {d.send(parcelBody, "Word", "panic"), 500, "internal"},
		"no id":        {d.deliver("", "sent", parcelBody), 400, "delivery-id-missing"},
		"no JSON":      {d.deliver("1", "sent", "{"), 400, "body-malformed"},
		"a member off": {d.deliver("1", "sent", `{"order_id": "o1"}`), 422, "input-invalid"},
		"too large":    {d.deliver("1", "sent", strings.Repeat(" ", 1<<20)+parcelBody), 413, "body-too-large"},
		"long scope":   {d.send(parcelBody, "Word", "sesame", "Delivery", "1", "For", strings.Repeat("x", 256)), 401, "unauthenticated"},
	} {
		if c.w.Code != c.status || !strings.Contains(c.w.Body.String(), `"code":"`+c.code+`"`) {
			t.Errorf("%s: %d %s; want %d %s", name, c.w.Code, c.w.Body, c.status, c.code)
		}
		if strings.Contains(c.w.Body.String(), "word") || strings.Contains(c.w.Body.String(), "broken") {
			t.Errorf("%s tells why: %s", name, c.w.Body)
		}
	}
	if n := d.count(t); n != 0 {
		t.Errorf("%d payments", n)
	}
	if !strings.Contains(d.log.String(), "the word is wrong") || strings.Contains(d.log.String(), "o1") {
		t.Errorf("log: %s", d.log)
	}
	if got := len(d.told.all); got != 8 {
		t.Errorf("%d of 8 refusals were told", got)
	}
}

// Ids of any form are keys, and different ones stay different.
func TestWebhookIDsOfAnyForm(t *testing.T) {
	t.Parallel()
	d := openDepot(t, nil, parcel("Sent"))
	long := strings.Repeat("x", 300)
	for i, id := range []string{"a b", "a  b", "ä", long, long + "y", `"`, "1"} {
		body := strings.Replace(parcelBody, "o1", "o"+string(rune('a'+i)), 1)
		wantStatus(t, d.deliver(id, "sent", body), http.StatusCreated)
		wantStatus(t, d.deliver(id, "sent", body), http.StatusCreated)
		if got := d.told.last(t).Event; got != EventDuplicate {
			t.Errorf("%.10q: %s", id, got)
		}
	}
	if n := d.count(t); n != 7 {
		t.Errorf("%d payments", n)
	}
}

// A delivery has no caller who could be asked, and a scope of its own.
func TestWebhookReplaysAskNoAuthorizer(t *testing.T) {
	t.Parallel()
	d := openDepot(t, func(_ *Config, o *Options) {
		o.AuthorizeReplay = func(context.Context, Name, []any) error { return errors.New("nobody may") }
	}, parcel("Sent"))
	for range 2 {
		wantStatus(t, d.send(parcelBody, "Word", "sesame", "Delivery", "1", "For", "t9"), http.StatusCreated)
	}
	var tenant, scope, key string
	row := d.pools.all[0].QueryRow(t.Context(), "SELECT p.tenant_id, k.scope, k.key FROM payments p, idem.keys k")
	if err := row.Scan(&tenant, &scope, &key); err != nil || tenant != "t9" || scope != "t9" || key != "webhook-courier-1" {
		t.Errorf("%s %s %s, %v", tenant, scope, key, err)
	}
}

func TestWebhooksThatCantBeServedDoNotStart(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	verifier := VerifierFunc(courier)
	for name, c := range map[string]struct {
		ops  []*Operation
		give map[string]Verifier
		want []string
	}{
		"no verifier":   {[]*Operation{parcel("Sent")}, nil, []string{`no verifier of "courier"`, "Sent"}},
		"one too many":  {[]*Operation{parcel("Sent")}, map[string]Verifier{"courier": verifier, "currier": verifier}, []string{`"currier"`}},
		"a broken one":  {[]*Operation{parcel("Sent")}, map[string]Verifier{"courier": brokenVerifier{verifier}}, []string{`Options.Webhooks["courier"]: unfit`}},
		"a type twice":  {[]*Operation{parcel("A", "x"), parcel("B", "y", "x")}, map[string]Verifier{"courier": verifier}, []string{"A and B both take type x"}},
		"the rest, too": {[]*Operation{parcel("A"), parcel("B")}, map[string]Verifier{"courier": verifier}, []string{"A and B both take all deliveries"}},
	} {
		_, err := New(pool, shopConfig(c.ops...), shopCaller, Options{Webhooks: c.give})
		if err == nil || slices.ContainsFunc(c.want, func(part string) bool { return !strings.Contains(err.Error(), part) }) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type brokenVerifier struct{ Verifier }

func (brokenVerifier) Check() error { return errors.New("unfit") }
