package client_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

type payout struct {
	ID int64 `json:"id"`
}

func stands(state, response string) http.HandlerFunc {
	return answer(200, `{"event_id": "e-1", "status": "`+state+`", "created_at": "2026-01-02T03:04:05.000001Z"`+response+`}`)
}

var ask = client.Call{Operation: "PayoutStatus", Method: http.MethodGet, Path: "/v1/payouts/e-1"}

// The status is asked for, less and less often, until it is the end.
func TestAwaitAsksUntilTheEnd(t *testing.T) {
	s := serve(t, stands("queued", ""), stands("running", ""), lost, stands("queued", ""),
		stands("done", `, "response": {"status": 201, "body": {"id": 7}}`))
	c, clock := newClient(t, s, client.Options{})
	got, err := client.Await[payout](t.Context(), c, ask)
	if err != nil || got.ID != 7 {
		t.Fatal(got, err)
	}
	waits := clock.took()
	for i, longest := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond} {
		if waits[i] > longest || waits[i] < longest*3/4 {
			t.Errorf("wait %d of %v, want at most %v", i, waits[i], longest)
		}
	}
	if n := s.tries(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// A recorded refusal is the problem that it would have been, and no other answer
// can be had for it.
func TestAwaitGivesTheRecordedRefusal(t *testing.T) {
	s := serve(t, stands("failed", `, "response": {"status": 409, "headers": {"Content-Type": "application/problem+json"},
		"body": {"type": "urn:x", "title": "Already done", "code": "intent-conflict", "existing": {"id": 3}}}`))
	c, _ := newClient(t, s, client.Options{})
	_, err := client.Await[payout](t.Context(), c, ask)
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Status != 409 || problem.Code != "intent-conflict" || problem.Retryable || problem.Operation != "PayoutStatus" {
		t.Fatalf("%+v", err)
	}
	if existing, err := client.Decode[payout](problem.Existing); err != nil || existing.ID != 3 {
		t.Error(existing, err)
	}
	if problem.Header.Get("Content-Type") != "application/problem+json" {
		t.Error(problem.Header)
	}
}

// An answer that was not stored, or has no body, is no value and no error.
func TestAwaitWithoutABody(t *testing.T) {
	c, _ := newClient(t, serve(t, stands("done", `, "response": {"status": 204}`)), client.Options{})
	if got, err := client.Await[payout](t.Context(), c, ask); got != nil || err != nil {
		t.Error(got, err)
	}
}
