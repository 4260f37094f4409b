package idem

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// An event is asked for below the path of its request: below another one it is
// unknown, before the work and after it. From Go there is no path.
func TestAsyncStatusIsOfItsPath(t *testing.T) {
	op := payout()
	op.Path = "/v1/branches/{branch}/payouts"
	op.Fields = append(append([]Field{}, op.Fields...), Field{From: FromPath, Name: "branch", Kind: KindInt8, Required: true})
	s := openStation(t, idemtest.Pool(t, shopTables), &till{}, nil, op)
	s.mux = http.NewServeMux()
	s.mux.Handle("POST /v1/branches/{branch}/payouts", s.Handler("Payout"))
	s.mux.Handle("GET /v1/branches/{branch}/payouts/{event_id}", s.StatusHandler("Payout"))
	first := s.send("POST", "/v1/branches/7/payouts", order1, "Idempotency-Key", "k")
	wantStatus(t, first, 202)
	event := eventOfAnswer(t, first)
	look := func() {
		t.Helper()
		wantStatus(t, s.send("GET", first.Header().Get("Location"), ""), 200)
		wantStatus(t, s.send("GET", "/v1/branches/07/payouts/"+event, ""), 200) // the same number
		wantCode(t, s.send("GET", "/v1/branches/8/payouts/"+event, ""), 404, "event-unknown")
		wantCode(t, s.send("GET", "/v1/branches/x/payouts/"+event, ""), 404, "event-unknown")
		if status, err := s.AsyncStatus(t.Context(), "Payout", []any{"t1"}, event, nil); err != nil || status.EventID != event {
			t.Errorf("%+v %v", status, err)
		}
	}
	look()
	s.run(t)
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE due_at IS NULL")
	look()
}

// send sends a request to a path as clients know it.
func (s *shop) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r)
	return w
}
