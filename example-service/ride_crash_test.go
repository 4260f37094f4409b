package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"

	"example.com/payments/internal/gateway"
)

// stopRides lets each write of a ride wait behind its row for the lock of its
// kind: 1 for an INSERT, 2 for an UPDATE.
const stopRides = `CREATE FUNCTION stop_ride() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN PERFORM pg_advisory_xact_lock_shared(CASE TG_OP WHEN 'INSERT' THEN 1 ELSE 2 END); RETURN NULL; END $$;
	CREATE TRIGGER stop_ride AFTER INSERT OR UPDATE ON rides FOR EACH ROW EXECUTE FUNCTION stop_ride()`

// A crashPoint is where the process is killed. Prepare lets the next ride stop
// there; what it returns waits for that, kills, and gives what became of the
// request.
type crashPoint struct {
	name    string
	prepare func(w *rideWorld, t *testing.T, p *process) (kill func(lost <-chan error) error)
}

var crashPoints = []crashPoint{
	{"before the first commit", func(w *rideWorld, t *testing.T, p *process) func(<-chan error) error { return w.inTheDatabase(t, p, 1) }},
	{"before the charge", func(w *rideWorld, _ *testing.T, p *process) func(<-chan error) error {
		return w.inTheCall(p, gateway.Received)
	}},
	{"after the charge", func(w *rideWorld, _ *testing.T, p *process) func(<-chan error) error {
		return w.inTheCall(p, gateway.Done)
	}},
	{"after a lost answer", func(w *rideWorld, _ *testing.T, p *process) func(<-chan error) error { return w.afterALostAnswer(p) }},
	{"before the second commit", func(w *rideWorld, t *testing.T, p *process) func(<-chan error) error { return w.inTheDatabase(t, p, 2) }},
}

// crashRuns is how many processes are killed: one per point, or as many as
// RIDE_CRASHES says.
func crashRuns(t *testing.T) int {
	text := os.Getenv("RIDE_CRASHES")
	if text == "" {
		return len(crashPoints)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RIDE_CRASHES=%s is no number of runs", text)
	}
	return n
}

// Killed at each point around a call. The retry goes to another process, which
// continues what was left: one charge at the gateway per intent, one ride, and
// every retry ends in the recorded response. A hundred runs:
//
//	RIDE_CRASHES=100 go test -run TestKilledAroundACall
func TestKilledAroundACall(t *testing.T) {
	binary := build(t, ".")
	w := newRideWorld(t, binary)
	for i := range crashRuns(t) {
		point := crashPoints[i%len(crashPoints)]
		if !t.Run(fmt.Sprint(i, " ", point.name), func(t *testing.T) { w.crash(t, binary, i, point) }) {
			return
		}
	}
}

// rideWorld is what stays when processes die: the database, the gateway, and the
// process that retries come to.
type rideWorld struct {
	*client
	gateway *gateway.Fake
	env     []string
	stop    atomic.Pointer[func(gateway.Stage) bool] // what the gateway does now
}

func newRideWorld(t *testing.T, binary string) *rideWorld {
	t.Helper()
	w := &rideWorld{gateway: &gateway.Fake{}}
	w.gateway.Stop = func(stage gateway.Stage, _ *http.Request) bool {
		stop := w.stop.Load()
		return stop == nil || (*stop)(stage)
	}
	server := httptest.NewServer(w.gateway)
	t.Cleanup(server.Close)
	url := idemtest.URL(t, emptyDatabase)
	w.env = []string{"DATABASE_URL=" + url, "GATEWAY_URL=" + server.URL}
	other := start(t, binary, 0, w.env...)
	pool := idemtest.Open(t, url, nil)
	w.client = &client{&service{pool: pool, url: other.url, http: httpClient(t)}, "acme", keyFrom(t, binary, url, "acme")}
	execute(t, pool, stopRides)
	return w
}

// crash kills a process at a point, and sends the request again.
func (w *rideWorld) crash(t *testing.T, binary string, i int, point crashPoint) {
	p := start(t, binary, 0, w.env...)
	victim := &client{&service{pool: w.pool, url: p.url, http: httpClient(t)}, w.tenant, w.apiKey}
	ride := request{method: "POST", path: "/v1/rides", key: fmt.Sprint("ride-", i), body: rideBody(fmt.Sprint("rider-", i), "tok_visa")}
	charges := len(w.gateway.Charges())
	kill := point.prepare(w, t, p)
	lost := make(chan error, 1)
	go func() {
		got, err := victim.try(context.Background(), ride)
		if err == nil && got.status == http.StatusServiceUnavailable {
			err = errors.New(got.body) // nobody knows
		}
		lost <- err
	}()
	if err := kill(lost); err == nil {
		t.Error("the request was answered before the end")
	}
	due(t, w.service)
	first := w.insist(t, ride)
	first.must(t, 201)
	w.send(t, ride).replays(t, first)
	if n := len(w.gateway.Charges()) - charges; n != 1 {
		t.Errorf("%d charges", n)
	}
	if n := query[int](t, w.pool, "SELECT count(*) FROM rides WHERE rider = $1", fmt.Sprint("rider-", i)); n != 1 {
		t.Errorf("%d rides", n)
	}
	nothingUnfinished(t, w.service)
}

// insist sends a request again as long as it is told to: whoever continues what was
// left may take longer than a copy waits.
func (w *rideWorld) insist(t *testing.T, r request) answer {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		got := w.send(t, r)
		if got.status != http.StatusConflict || got.header.Get("Retry-After") == "" || time.Now().After(deadline) {
			return got
		}
	}
}

// inTheDatabase kills while a write of the ride waits for its lock, and ends the
// transaction.
func (w *rideWorld) inTheDatabase(t *testing.T, p *process, lock int) func(<-chan error) error {
	end := hold(t, w.pool, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lock))
	return func(lost <-chan error) error {
		awaitBlocked(t, w.pool, 1)
		p.kill()
		endBlocked(t, w.pool)
		end()
		return <-lost
	}
}

// inTheCall kills while the gateway is at a stage of the charge.
func (w *rideWorld) inTheCall(p *process, stage gateway.Stage) func(<-chan error) error {
	reached, killed := make(chan struct{}), make(chan struct{})
	w.next(stage, func() {
		close(reached)
		<-killed
	})
	return func(lost <-chan error) error {
		<-reached
		p.kill()
		close(killed)
		return <-lost
	}
}

// afterALostAnswer kills when the client was told that nobody knows.
func (w *rideWorld) afterALostAnswer(p *process) func(<-chan error) error {
	w.next(gateway.Done, func() {})
	return func(lost <-chan error) error {
		err := <-lost
		p.kill()
		return err
	}
}

// next is called the next time the gateway comes to a stage, which then cuts the
// connection.
func (w *rideWorld) next(stage gateway.Stage, call func()) {
	var once atomic.Bool
	stop := func(at gateway.Stage) bool {
		if at != stage || once.Swap(true) {
			return true
		}
		call()
		return false
	}
	w.stop.Store(&stop)
}
