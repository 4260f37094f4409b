package idem

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"
)

// crowdAt sends copies of a request at once, in turn to each of several processes.
func crowdAt(n int, at ...*station) []*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = at[i%len(at)].post("Ride", "k", order1) })
	}
	all.Wait()
	return answers
}

// Duplicates at once, in two processes: one call, one answer.
func TestCallTwins(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		t.Run(string(level), func(t *testing.T) {
			op := ride("Ride")
			op.Policy.Isolation = level
			s := newStation(t, op)
			answers := crowdAt(16, s, s.twin(t, op))
			news := 0
			for _, w := range answers {
				sameBody(t, answers[0], w)
				if w.Header().Get(replayedHeader) == "false" {
					news++
				}
			}
			wantStatus(t, answers[0], 201)
			if news != 1 {
				t.Errorf("%d are new", news)
			}
			s.till.want(t, 1, 1, 0, 0)
			s.settled(t)
			if n := s.pool.Stat().AcquiredConns(); n != 0 {
				t.Errorf("%d connections are held", n)
			}
		})
	}
}

// What a duplicate meets while the call runs, in this process and in another.
func TestCallDuplicateMeetsRunning(t *testing.T) {
	t.Parallel()
	op := ride("Ride")
	op.Policy.Wait = 0
	s := newStation(t, op)
	twin := s.twin(t, op)
	patient := ride("Ride")
	patient.Policy.Wait = 50 * time.Millisecond
	waiting := s.twin(t, patient)
	entered, back := make(chan struct{}), make(chan struct{})
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Charge" {
			close(entered)
			<-back
		}
		return nil
	}
	first := make(chan *httptest.ResponseRecorder, 1)
	go func() { first <- s.post("Ride", "k", order1) }()
	within(t, entered)
	for name, at := range map[string]*station{"same process": s, "other process": twin, "one that waits": waiting} {
		w := at.post("Ride", "k", order1)
		wantCode(t, w, 409, "in-flight")
		if w.Header().Get("Retry-After") == "" || w.Header().Get("X-Should-Retry") != "true" {
			t.Errorf("%s: %v", name, w.Header())
		}
		// The key row is committed: its fingerprint can be seen.
		wantCode(t, at.post("Ride", "k", `{"order_id": "other", "amount": 5}`), 422, "key-reused")
		if n := at.pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%s: %d connections are held", name, n)
		}
	}
	// An input that is not valid any more finds no record, and claims nothing.
	wantStatus(t, twin.post("Ride", "k", `{"order_id": "o1", "amount": "x"}`), 422)
	close(back)
	wantStatus(t, within(t, first), 201)
	s.settled(t)
}

// A duplicate that waits gets the answer when it is there; holding no connection.
func TestCallDuplicateWaits(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	twin := s.twin(t, ride("Ride"))
	entered, back := make(chan struct{}), make(chan struct{})
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Charge" {
			close(entered)
			<-back
		}
		return nil
	}
	first, second := make(chan *httptest.ResponseRecorder, 1), make(chan *httptest.ResponseRecorder, 1)
	go func() { first <- s.post("Ride", "k", order1) }()
	within(t, entered)
	go func() { second <- twin.post("Ride", "k", order1) }()
	acquired := twin.pool.Stat().AcquireCount()
	for twin.pool.Stat().AcquireCount() < acquired+4 { // it has looked a few times
		runtime.Gosched()
	}
	close(back)
	sameAnswer(t, within(t, first), within(t, second))
	s.settled(t)
}

// An expired key runs anew, also where leftovers of its work are there.
func TestCallAfterExpiry(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.exec(t, `UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 s';
		INSERT INTO idem.work (scope, digest, operation, step, held, undoing) SELECT scope, digest, operation, 9, true, true FROM idem.keys`)
	w := s.post("Ride", "k", `{"order_id": "o2", "amount": 5}`)
	wantStatus(t, w, 201)
	if w.Header().Get(replayedHeader) != "false" {
		t.Error("it was replayed")
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work"); n != 0 {
		t.Errorf("%d unfinished", n)
	}
}

// The sweeper leaves what is not done.
func TestSweepLeavesUnfinishedWork(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.till.before = func(context.Context, visit) error { return fmt.Errorf("down") }
	wantStatus(t, s.post("Ride", "k", order1), 503)
	sweeper := Sweeper{Pool: s.pool}
	swept, err := sweeper.Sweep(t.Context())
	if err != nil || swept.Keys != 0 {
		t.Errorf("%+v, %v", swept, err)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work JOIN idem.keys USING (scope, digest)"); n != 1 {
		t.Errorf("%d are left", n)
	}
}

// Session settings are those of the caller in every transaction, also in one of
// the completer.
func TestCallSession(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.exec(t, `CREATE TABLE seen (tenant text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO seen VALUES (current_setting('app.tenant', true)); RETURN NULL; END $$;
		CREATE TRIGGER note AFTER INSERT OR UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION note();
		CREATE TRIGGER note AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION note()`)
	op := ride("Ride")
	op.SQL += "\n-- statement: session\nSELECT set_config('app.tenant', $1::text, true);\n"
	config := shopConfig(op)
	config.Session = []SessionVar{{Name: "app.tenant", Arg: Arg{From: ArgField, Field: 0}}}
	service, err := New(s.pool, config, shopCaller, s.till.options())
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
	s.mux.Handle("/Session/{id}", service.Handler("Ride"))
	s.till.after = func(_ context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			return fmt.Errorf("down")
		}
		return nil
	}
	wantStatus(t, s.post("Session", "k", order1, "X-Tenant", "t7"), 503)
	s.run(t)
	s.await(t, 0, "SELECT count(*) FROM idem.work")
	if n := s.count(t, "SELECT count(*) FROM seen WHERE tenant = 't7'"); n != 3 {
		t.Errorf("%d of 3 writes saw the tenant", n)
	}
}

// A deploy has taken the calls out of an operation, and a request of before is not
// done: it is in flight to those of the version now, and never runs beside it.
func TestUnfinishedKeyMeetsAnotherStrategy(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{
		createPayment("Create", "10ms", true), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable),
	} {
		t.Run(string(op.Name), func(t *testing.T) {
			op.Policy.Wait = 0
			s := newShop(t, op)
			s.exec(t, "INSERT INTO jobs DEFAULT VALUES")
			s.exec(t, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
				VALUES ('t1', $1, 'shop.x', 'k', '\x00', 0, 'infinity')`, digestFor(string(op.Name)))
			wantCode(t, s.post(op.Name, "k", bodyFor(op.Name)), 409, "in-flight")
			if n := s.count(t, allEffects); n != 0 {
				t.Errorf("%d effects", n)
			}
		})
	}
}
