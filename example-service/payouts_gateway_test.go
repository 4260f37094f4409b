package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"

	"example.com/payments/internal/gateway"
)

// asked is what the gateway was asked for.
type asked struct {
	key string
	at  time.Time
}

// moods is a gateway in front of a Fake that first answers as it is told.
type moods struct {
	to *gateway.Fake

	mu    sync.Mutex
	first []func(w http.ResponseWriter, r *http.Request) // one for each request
	asked []asked
}

func (m *moods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.asked = append(m.asked, asked{r.Header.Get("Idempotency-Key"), time.Now()})
	answer := m.to.ServeHTTP
	if len(m.first) > 0 {
		answer, m.first = m.first[0], m.first[1:]
	}
	m.mu.Unlock()
	answer(w, r)
}

// in lets the service ask a gateway of these moods first.
func (s *service) in(t *testing.T, first ...func(w http.ResponseWriter, r *http.Request)) (*service, *moods) {
	t.Helper()
	m := &moods{to: &gateway.Fake{}, first: first}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return openWith(t, s.pool, m.to, server.URL), m
}

// ended waits until no event is to be delivered any more.
func (s *service) ended(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(45 * time.Second); query[int](t, s.pool, "SELECT count(*) FROM payouts") == 0 ||
		query[int](t, s.pool, "SELECT count(*) FROM idem.outbox WHERE status = 'PENDING'") > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the event is still pending")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// The gateway is away, busy, and cuts the connection once it has paid; the request is
// repeated meanwhile. It pays once, no sooner than it said, and the payout is paid.
func TestThePayoutIsPaidOnce(t *testing.T) {
	fault := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	busy := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	base := newService(t)
	var m *moods
	lost := func(_ http.ResponseWriter, r *http.Request) {
		m.to.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	s, m := base.in(t, fault, busy, lost)
	c := s.as(t, "acme")
	account := c.account(t, 1000)
	s.running(t)
	answers := together(16, func(int) answer { return c.post(t, "/v1/payouts", "k", payoutBody(account, 300)) })
	for _, got := range answers {
		got.must(t, 202)
		got.sameAs(t, answers[0])
	}
	s.ended(t)
	c.post(t, "/v1/payouts", "k", payoutBody(account, 300)).replays(t, answers[0])
	if paid := m.to.Payouts(); len(paid) != 1 || paid[0].Amount != 300 || fmt.Sprint(paid[0].Account) != account {
		t.Errorf("%+v", paid)
	}
	if len(m.asked) != 4 {
		t.Fatalf("asked %d times", len(m.asked))
	}
	for _, a := range m.asked {
		if a.key != m.asked[0].key || len(a.key) < 16 {
			t.Errorf("asked under %q and %q", m.asked[0].key, a.key)
		}
	}
	if waited := m.asked[2].at.Sub(m.asked[1].at); waited < 2*time.Second {
		t.Errorf("asked again after %s, Retry-After said 2 s", waited)
	}
	if got := query[string](t, s.pool, "SELECT status || ' ' || gateway_id || ' ' || (SELECT status || ' ' || answer_status FROM idem.outbox) FROM payouts"); got != "paid po_1 PROCESSED 201" {
		t.Errorf("%s", got)
	}
	if got := c.balance(t, account); got != 700 {
		t.Errorf("balance %d", got)
	}
}

// What the gateway refuses for good is given back, once, however often it is told.
func TestARefusedPayoutIsGivenBack(t *testing.T) {
	s, m := newService(t).in(t)
	m.to.MostPaid = 100
	c := s.as(t, "acme")
	account := c.account(t, 1000)
	s.running(t)
	c.post(t, "/v1/payouts", "k", payoutBody(account, 300)).must(t, 202)
	s.ended(t)
	execute(t, s.pool, "UPDATE idem.outbox SET status = 'PENDING', due_at = clock_timestamp()") // as `idemgen outbox retry` does
	s.ended(t)
	if got := query[string](t, s.pool, "SELECT status || ' ' || (SELECT status || ' ' || answer_status FROM idem.outbox) FROM payouts"); got != "refused DEAD 422" {
		t.Errorf("%s", got)
	}
	if got := c.balance(t, account); got != 1000 || len(m.to.Payouts()) != 0 {
		t.Errorf("balance %d, %d paid out", got, len(m.to.Payouts()))
	}
}

// A process is killed when the gateway has paid and before anybody heard it: the next
// one asks again, under the same key, and nothing is paid twice.
func TestKilledBehindThePayout(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the service")
	}
	binary := build(t, ".")
	var p *process
	var kill sync.Once
	var mu sync.Mutex
	var keys []string
	killed := make(chan struct{})
	fake := &gateway.Fake{Stop: func(stage gateway.Stage, r *http.Request) bool {
		if stage == gateway.Done {
			mu.Lock()
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			mu.Unlock()
			kill.Do(func() { p.kill(); close(killed) })
		}
		return true
	}}
	server := httptest.NewServer(fake)
	defer server.Close()
	url := idemtest.URL(t, emptyDatabase)
	env := []string{"DATABASE_URL=" + url, "GATEWAY_URL=" + server.URL}
	p = start(t, binary, 0, env...)
	s := &service{pool: idemtest.Open(t, url, nil), url: p.url, http: httpClient(t)}
	c := &client{s, "acme", keyFrom(t, binary, url, "acme")}
	account := c.account(t, 1000)
	first := c.post(t, "/v1/payouts", "k", payoutBody(account, 300))
	first.must(t, 202)
	<-killed
	if got := query[string](t, s.pool, "SELECT status || ' ' || (SELECT status FROM idem.outbox) FROM payouts"); got != "requested PENDING" {
		t.Errorf("behind the kill: %s", got)
	}
	execute(t, s.pool, "UPDATE idem.outbox SET lease_until = clock_timestamp(), due_at = clock_timestamp()") // the lease runs out
	next := start(t, binary, 0, env...)
	s.ended(t)
	if paid := fake.Payouts(); len(paid) != 1 {
		t.Errorf("paid out: %+v", paid)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" {
		t.Errorf("asked under %q", keys)
	}
	if got := query[string](t, s.pool, "SELECT status || ' ' || (SELECT status FROM idem.outbox) FROM payouts"); got != "paid PROCESSED" {
		t.Errorf("%s", got)
	}
	again := &client{&service{pool: s.pool, url: next.url, http: s.http}, c.tenant, c.apiKey}
	again.post(t, "/v1/payouts", "k", payoutBody(account, 300)).replays(t, first)
	if got := again.balance(t, account); got != 700 {
		t.Errorf("balance %d", got)
	}
}
