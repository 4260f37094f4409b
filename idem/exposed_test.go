package idem

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// What a service answers with is what it says that it exposes, or what browsers
// show without being asked (Fetch standard, CORS-safelisted response headers), or
// of no use to a script.
func TestExposedHeadersAreAllThatAreSent(t *testing.T) {
	t.Parallel()
	for _, profile := range []Profile{ProfileIETF, ProfileStripe, ProfileGateway} {
		op := createPayment("Create", "50ms", false)
		op.Headers = []string{"location"}
		cfg := shopConfig(op, charge())
		cfg.Profile = profile
		service, err := New(idemtest.Pool(t, shopTables), cfg, shopCaller, Options{})
		if err != nil {
			t.Fatal(err)
		}
		exposed := service.ExposedHeaders()
		want := []string{"Idempotency-Key", "Idempotent-Replayed", "Location", "Retry-After", "X-Should-Retry"}
		key := keyHeader
		if profile == ProfileGateway {
			want = []string{"Location", "Retry-After", "X-Idempotency-Key", "X-Idempotency-Status", "X-Should-Retry"}
			key = gatewayKeyHeader
		}
		if !slices.Equal(exposed, want) {
			t.Errorf("%s: %q", profile, exposed)
		}
		seen := map[string]bool{}
		h := service.Handler("Create")
		s := &shop{pool: service.pools.all[0].Pool}
		post := func(body, key, value string) {
			r := httptest.NewRequest("POST", "/", nil)
			if body != "" {
				r = httptest.NewRequest("POST", "/", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
			}
			r.Header.Set(key, value)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			for name := range w.Header() {
				seen[name] = true
			}
		}
		post(order1, key, "key-1")
		post(order1, key, "key-1")
		post(order1, key, "key-2")
		post("", key, "key-3")
		end := hold(t, s.pool, winner, digestOf("shop.Create", "key-4"))
		post(`{"order_id": "o4", "amount": 1}`, key, "key-4")
		end(false)
		plain := []string{"Content-Type", "Content-Length", "Vary"}
		for name := range seen {
			if !slices.Contains(exposed, name) && !slices.Contains(plain, name) {
				t.Errorf("%s: %s is sent, but not exposed", profile, name)
			}
		}
		for _, name := range exposed {
			if !seen[name] {
				t.Errorf("%s: %s is exposed, but none of the answers had it", profile, name)
			}
			if name != "Location" && !neverStored[name] {
				t.Errorf("%s: %s is ours, but could be stored", profile, name)
			}
		}
	}
}
