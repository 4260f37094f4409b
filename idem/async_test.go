package idem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// payout is a ride that is done later.
func payout() *Operation {
	op := ride("Payout")
	op.Async, op.Path = true, "/v1/payouts"
	return op
}

func eventOfAnswer(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var accepted Accepted
	if err := json.Unmarshal(w.Body.Bytes(), &accepted); err != nil || len(accepted.EventID) != 36 {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return accepted.EventID
}

// statusFor asks for the status of an event.
func (s *station) statusFor(t testing.TB, event string, headers ...string) (*httptest.ResponseRecorder, AsyncStatus) {
	t.Helper()
	w := s.call("Payout", "GET", "status/"+event, "", headers...)
	var status AsyncStatus
	if w.Code == 200 {
		if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
			t.Fatal(err)
		}
	}
	return w, status
}

func (s *station) wantState(t testing.TB, event string, want AsyncState) AsyncStatus {
	t.Helper()
	w, status := s.statusFor(t, event)
	if w.Code != 200 || status.Status != want || status.EventID != event || status.CreatedAt.IsZero() {
		t.Fatalf("%d %s, want %s", w.Code, w.Body, want)
	}
	if (status.Response != nil) != (want == AsyncDone || want == AsyncFailed) {
		t.Errorf("%s", w.Body)
	}
	return status
}

func TestAsyncFromAcceptedToDone(t *testing.T) {
	s := newStation(t, payout())
	first := s.post("Payout", "k", order1)
	wantStatus(t, first, 202)
	event := eventOfAnswer(t, first)
	if got := first.Header().Get("Location"); got != "/v1/payouts/"+event {
		t.Errorf("Location %q", got)
	}
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 0 {
		t.Error("it was done at once")
	}
	sameAnswer(t, first, s.post("Payout", "k", order1))
	s.wantState(t, event, AsyncQueued)
	entered, back := make(chan struct{}), make(chan struct{})
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Charge" {
			close(entered)
			<-back
		}
		return nil
	}
	s.run(t)
	within(t, entered)
	s.wantState(t, event, AsyncRunning)
	sameAnswer(t, first, s.post("Payout", "k", order1))
	wantCode(t, s.post("Payout", "k", `{"order_id": "o2", "amount": 5}`), 422, "key-reused")
	close(back)
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL AND input IS NULL AND results IS NULL")
	status := s.wantState(t, event, AsyncDone)
	if status.Response.Status != 201 || status.Response.Headers["Location"] != "/v1/rides/1" || !strings.Contains(string(status.Response.Body), `"order_id":"o1"`) {
		t.Errorf("%+v %s", status.Response, status.Response.Body)
	}
	sameAnswer(t, first, s.post("Payout", "k", order1))
	wantCode(t, s.post("Payout", "k", `{"order_id": "o2", "amount": 5}`), 422, "key-reused")
	s.till.want(t, 1, 1, 0, 0)

	// The record expires: the event is unknown, the key is free, and sweeping takes both.
	s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 s'; UPDATE idem.work SET expires_at = clock_timestamp() - interval '1 s'")
	w, _ := s.statusFor(t, event)
	wantCode(t, w, 404, "event-unknown")
	sweeper := Sweeper{Pool: s.pool}
	if swept, err := sweeper.Sweep(t.Context()); err != nil || swept.Keys != 1 {
		t.Errorf("%+v %v", swept, err)
	}
	if n := s.count(t, "SELECT (SELECT count(*) FROM idem.work) + (SELECT count(*) FROM idem.keys)"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// Accepting is one round trip, and so is repeating it.
func TestAsyncRoundTrips(t *testing.T) {
	pool, counter := idemtest.PoolCounting(t, shopTables)
	s := openStation(t, pool, &till{}, nil, payout())
	wantStatus(t, s.post("Payout", "warm", order1), 202)
	for i := range 3 {
		for range 2 {
			if n := counter.Count(func() { wantStatus(t, s.post("Payout", fmt.Sprint("k", i), order1), 202) }); n != 1 {
				t.Errorf("%d round trips", n)
			}
		}
	}
}

func TestAsyncDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStation(t, payout())
	twin := s.twin(t, payout())
	s.run(t)
	twin.run(t)
	answers := make([]*httptest.ResponseRecorder, 64)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = []*station{s, twin}[i%2].post("Payout", "k", order1) })
	}
	all.Wait()
	news := 0
	for _, w := range answers {
		sameBody(t, answers[0], w)
		if w.Header().Get(replayedHeader) == "false" {
			news++
		}
	}
	wantStatus(t, answers[0], 202)
	if news != 1 {
		t.Errorf("%d are new", news)
	}
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
	s.wantState(t, eventOfAnswer(t, answers[0]), AsyncDone)
	s.till.want(t, 1, 1, 0, 0)
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d payments", n)
	}
}

// A refusal is recorded, and what the status shows; the request is answered as
// before. The calls are taken back.
func TestAsyncRefused(t *testing.T) {
	s := newStation(t, payout())
	s.exec(t, "UPDATE accounts SET balance = 2")
	s.run(t)
	first := s.post("Payout", "k", order1)
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
	status := s.wantState(t, eventOfAnswer(t, first), AsyncFailed)
	if status.Response.Status != 409 || !strings.Contains(string(status.Response.Body), `"code":"overdrawn"`) {
		t.Errorf("%+v %s", status.Response, status.Response.Body)
	}
	sameAnswer(t, first, s.post("Payout", "k", order1))
	s.till.want(t, 1, 0, 1, 0)
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE expires_at BETWEEN clock_timestamp() + interval '1 hour' AND clock_timestamp() + interval '2 hours'"); n != 1 {
		t.Error("not kept for the time of client errors")
	}

	// A refusal before any call: nothing of the first transaction stays.
	s.till.visits = nil
	s.exec(t, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'taken', 1)")
	w := s.post("Payout", "k2", `{"order_id": "taken", "amount": 5}`)
	s.await(t, 2, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
	if status := s.wantState(t, eventOfAnswer(t, w), AsyncFailed); !strings.Contains(string(status.Response.Body), "already-exists") {
		t.Errorf("%s", status.Response.Body)
	}
	s.till.want(t, 0, 0, 0, 0)
}

// What fails is tried again; what is held is not settled.
func TestAsyncTriedAgainAndHeld(t *testing.T) {
	t.Parallel()
	s := newStation(t, payout())
	s.completer.MaxTries = 2
	s.till.before = func(context.Context, visit) error { return errors.New("down") }
	s.run(t)
	event := eventOfAnswer(t, s.post("Payout", "k", order1))
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE held")
	s.wantState(t, event, AsyncRunning)
	held, err := ListHeld(t.Context(), s.pool, 1)
	if err != nil || len(held) != 1 || held[0].EventID != event {
		t.Fatalf("%+v %v", held, err)
	}
	s.till.before = nil
	if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Payout", "k"); err != nil {
		t.Fatal(err)
	}
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
	s.wantState(t, event, AsyncDone)
	s.till.want(t, 3, 1, 0, 0)
}

// A worker that ends in the middle.
func TestAsyncCrash(t *testing.T) {
	for point, crash := range crashPoints {
		t.Run(point, func(t *testing.T) {
			s := newStation(t, payout())
			crash(s.till, "Notify")
			event := eventOfAnswer(t, s.post("Payout", "k", order1))
			_ = s.completeOnce(t)
			s.wantState(t, event, AsyncRunning)
			s.expireLease(t)
			s.wantState(t, event, AsyncQueued)
			s.twin(t, payout()).run(t)
			s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
			s.wantState(t, event, AsyncDone)
			s.till.want(t, 1, 2, 0, 0)
		})
	}
}

// The answer to the request that was written down got lost.
func TestAsyncLosesItsConnection(t *testing.T) {
	for _, at := range []idemtest.CutPoint{idemtest.CutBefore, idemtest.CutAnswer} {
		var cutter idemtest.Cutter
		pool := idemtest.Open(t, idemtest.URL(t, shopTables), cutter.Watch)
		s := openStation(t, pool, &till{}, nil, payout())
		wantStatus(t, s.post("Payout", "warm", order1), 202)
		cutter.Arm(at, "o-cut")
		w := s.post("Payout", "k", `{"order_id": "o-cut", "amount": 5}`)
		if !cutter.Disarm() {
			t.Fatal("nothing was cut")
		}
		wantStatus(t, w, 202)
		if w.Header().Get(replayedHeader) != "false" {
			t.Error("it met itself")
		}
		s.wantState(t, eventOfAnswer(t, w), AsyncQueued)
		if n := s.count(t, "SELECT count(*) FROM idem.work"); n != 2 {
			t.Errorf("%d are written down", n)
		}
	}
}

// From Go as over HTTP.
func TestAsyncFromGo(t *testing.T) {
	s := newStation(t, payout())
	in := []any{"o1", int64(5), nil}
	ctx := t.Context()
	first, meta, err := s.Submit(ctx, "Payout", []any{"t1"}, "k", in)
	if err != nil || meta.Status != 202 || meta.Replayed {
		t.Fatalf("%v %+v", err, meta)
	}
	again, meta, err := s.Submit(ctx, "Payout", []any{"t1"}, "k", in)
	if err != nil || again != first || !meta.Replayed {
		t.Errorf("%v %+v %+v", err, meta, again)
	}
	_, _, err = s.Submit(ctx, "Payout", []any{"t1"}, "k", []any{"o2", int64(5), nil})
	if CodeOf(err) != "key-reused" {
		t.Error(err)
	}
	if _, err := s.Call(ctx, "Payout", []any{"t1"}, "k", in, nil); err == nil || !strings.Contains(err.Error(), "Submit") {
		t.Error(err)
	}
	if err := s.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	var id int64
	status, err := s.AsyncStatus(ctx, "Payout", []any{"t1"}, first.EventID, []OutputColumn{{Path: "ride.id", Kind: KindInt8, Into: &id}})
	if err != nil || status.Status != AsyncDone || id != 1 {
		t.Errorf("%v %+v %d", err, status, id)
	}
	if _, err := s.AsyncStatus(ctx, "Payout", []any{"t2"}, first.EventID, nil); CodeOf(err) != "event-unknown" {
		t.Error(err)
	}
}

// record=none: neither the answer nor the input is left.
func TestAsyncTombstone(t *testing.T) {
	op := payout()
	op.Policy.Tombstone = true
	s := newStation(t, op)
	first := s.post("Payout", "k", order1)
	if err := s.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	status := s.wantState(t, eventOfAnswer(t, first), AsyncDone)
	if status.Response.Status != 201 || status.Response.Body != nil {
		t.Errorf("%+v", status.Response)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work w WHERE w::text LIKE '%o1%'"); n != 0 {
		t.Error("the input is left")
	}
	sameAnswer(t, first, s.post("Payout", "k", order1))
}

// A check that a deploy made stricter does not take an event away.
func TestAsyncAfterAStricterCheck(t *testing.T) {
	s := newStation(t, payout())
	first := s.post("Payout", "k", order1)
	op := payout()
	op.Fields = append([]Field{}, op.Fields...)
	op.Fields[1].Checks = []Check{{Op: CheckMin, Value: "10"}}
	now := s.twin(t, op)
	sameAnswer(t, first, now.post("Payout", "k", order1))
	wantStatus(t, now.post("Payout", "k2", order1), 422)
}
