package idem

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// dialect is what a client sees of a profile, and what the generator makes its
// policies of: semantics.md section 3.
type dialect struct {
	profile               Profile
	keyHeader, told       string
	first, again, running string // values of told
	echo                  string // the key key-1 in an answer
	required              bool   // `@key header` alone
	reused, inFlight      int    // statuses; reused 0: nothing is compared
	clientError           time.Duration
	serverError           time.Duration
	wait                  string // as createPayment takes it; "" is reject
}

var dialects = []dialect{
	{profile: ProfileIETF, keyHeader: "Idempotency-Key", told: "Idempotent-Replayed", first: "false", again: "true", running: "false",
		echo: `"key-1"`, required: true, reused: 422, inFlight: 409, clientError: 2 * time.Hour, wait: "50ms"},
	{profile: ProfileStripe, keyHeader: "Idempotency-Key", told: "Idempotent-Replayed", first: "false", again: "true", running: "false",
		echo: `"key-1"`, reused: 400, inFlight: 409, clientError: 24 * time.Hour, serverError: 24 * time.Hour},
	{profile: ProfileGateway, keyHeader: "X-Idempotency-Key", told: "X-Idempotency-Status", first: "new", again: "duplicate", running: "processing",
		echo: "key-1", inFlight: 200, clientError: 2 * time.Hour, serverError: 5 * time.Minute},
}

// offers are the operations of the shop with the policies of the profile.
func (d dialect) offers() []*Operation {
	ops := []*Operation{createPayment("Pay", d.wait, d.required), charge(), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable)}
	for _, op := range ops {
		op.Policy.ClientError, op.Policy.ServerError = d.clientError, d.serverError
		if d.reused == 0 {
			op.Policy.Print = []string{}
		}
	}
	return ops
}

// counter is a shop that speaks a dialect.
type counter struct {
	*shop
	dialect
}

func (d dialect) open(t *testing.T) counter {
	t.Helper()
	return d.serve(t, &shop{pool: idemtest.Pool(t, shopTables)})
}

// serve opens one more process over the database of a shop.
func (d dialect) serve(t *testing.T, over *shop) counter {
	t.Helper()
	cfg := shopConfig(d.offers()...)
	cfg.Profile = d.profile
	service, err := New(over.pool, cfg, shopCaller, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, over.pool, http.NewServeMux()}
	for _, op := range cfg.Operations {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return counter{s, d}
}

// send posts with the key as it stands, "" for none.
func (c counter) send(name Name, key, body string) *httptest.ResponseRecorder {
	if key == "" {
		return c.call(name, http.MethodPost, "1", body)
	}
	return c.call(name, http.MethodPost, "1", body, c.keyHeader, key)
}

// wantHeaders fails unless exactly the profile's headers say what was made of
// the key.
func (c counter) wantHeaders(t *testing.T, w *httptest.ResponseRecorder, echo, told string) {
	t.Helper()
	want := map[string]string{c.keyHeader: echo, c.told: told}
	for _, d := range dialects {
		for _, name := range []string{d.keyHeader, d.told} {
			if got := w.Header().Get(name); got != want[name] {
				t.Errorf("%s is %q, want %q", name, got, want[name])
			}
		}
	}
}

// wantRefusal fails unless the answer is an error in the profile's form. Message
// is the gateway's; of a problem its code counts.
func (c counter) wantRefusal(t *testing.T, w *httptest.ResponseRecorder, status int, code, message string) {
	t.Helper()
	if c.profile != ProfileGateway {
		wantCode(t, w, status, code)
		return
	}
	wantStatus(t, w, status)
	if want := `{"code":"` + strconv.Itoa(status) + `","message":"` + message + `"}`; w.Body.String() != want {
		t.Errorf("body %s, want %s", w.Body, want)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

// wantRepeated fails unless the second answer is the first one, marked.
func (c counter) wantRepeated(t *testing.T, first, again *httptest.ResponseRecorder) {
	t.Helper()
	if first.Code != again.Code || first.Body.String() != again.Body.String() || first.Header().Get("Content-Type") != again.Header().Get("Content-Type") {
		t.Errorf("first %d %s\nagain %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	c.wantHeaders(t, first, c.echo, c.first)
	c.wantHeaders(t, again, c.echo, c.again)
}

// wantKept fails unless that is how long the record of key-1 is kept.
func (c counter) wantKept(t *testing.T, want time.Duration) {
	t.Helper()
	seconds := c.count(t, "SELECT extract(epoch FROM expires_at - created_at)::bigint FROM idem.keys WHERE key = 'key-1'")
	if got := time.Duration(seconds) * time.Second; got < want-10*time.Second || got > want+10*time.Second {
		t.Errorf("kept for %v, want %v", got, want)
	}
}

func eachDialect(t *testing.T, test func(*testing.T, counter)) {
	for _, d := range dialects {
		t.Run(string(d.profile), func(t *testing.T) { test(t, d.open(t)) })
	}
}
