package idem

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The same process runs the same key for another client, and nobody waits for
// anybody: no influence. In the database it is TestCase_scope_2.
func TestCase_scope_2_in_memory(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables, spendTables, "INSERT INTO slots VALUES (1, 0), (2, 0)")
	for _, d := range dialects {
		for _, strategy := range slices.Sorted(maps.Keys(spenders())) {
			if !strings.HasSuffix(strategy, "reject") {
				continue
			}
			t.Run(string(d.profile)+" "+strategy, func(t *testing.T) { runBesideAnother(t, pool, d, spenders()[strategy]("Spend")) })
		}
	}
}

// runBesideAnother stops the first client in its write, on a row of its own.
func runBesideAnother(t *testing.T, pool *pgxpool.Pool, d dialect, op *Operation) {
	cfg := shopConfig(op)
	cfg.Profile = d.profile
	service, err := New(pool, cfg, shopCaller, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	s.mux.Handle("/Spend/{id}", service.Handler("Spend"))
	s.exec(t, "DELETE FROM idem.keys; UPDATE slots SET budget = 25, effects = 0")
	send := func(tenant string, slot int64) *httptest.ResponseRecorder {
		return s.call("Spend", http.MethodPost, "1", spendBody(slot, 20), d.keyHeader, "key-1", "X-Tenant", tenant)
	}
	end := hold(t, pool, "SELECT FROM slots WHERE id = 1 FOR UPDATE")
	first := make(chan *httptest.ResponseRecorder, 1)
	go func() { first <- send("t1", 1) }()
	awaitBlocked(t, s)
	other := send("t2", 2)
	end(false)
	for slot, w := range map[string]*httptest.ResponseRecorder{"1": <-first, "2": other} {
		if w.Code != 201 || w.Header().Get(d.told) != d.first || !strings.Contains(w.Body.String(), `"id":`+slot+`,`) {
			t.Errorf("client %s: %d %v %s", slot, w.Code, w.Header(), w.Body)
		}
	}
	if n := s.count(t, "SELECT count(*) FROM slots WHERE effects = 1"); n != 2 {
		t.Errorf("%d effects", n)
	}
}
