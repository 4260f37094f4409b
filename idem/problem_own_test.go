package idem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// openWith serves operations with options.
func openWith(t *testing.T, over *shop, opts Options, ops ...*Operation) *shop {
	t.Helper()
	if over == nil {
		over = &shop{pool: idemtest.Pool(t, shopTables)}
	}
	service, err := New(over.pool, shopConfig(ops...), shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, over.pool, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s
}

const ownType = "application/vnd.shop+xml"

// ownBody differs at each call, so that bytes made anew would be seen.
func ownBody(calls *atomic.Int64) func(*Error) (string, []byte) {
	return func(e *Error) (string, []byte) {
		return ownType, fmt.Appendf(nil, "<e n='%d' code='%s' retry='%t'>%s</e>", calls.Add(1), e.Code, e.Retryable(), e.Title)
	}
}

func wantOwn(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	wantStatus(t, w, status)
	if w.Header().Get("Content-Type") != ownType || !strings.Contains(w.Body.String(), "code='"+code+"'") {
		t.Fatalf("not the service's own: %v %s", w.Header(), w.Body)
	}
	if w.Header().Get("Vary") != "" || w.Header().Get(problemMark) != "" {
		t.Errorf("headers %v", w.Header())
	}
}

// refusals are requests of the shop that its operations refuse, per strategy.
var refusals = []struct {
	op         func() *Operation
	status     int
	code, body string
}{
	{charge, 409, "insufficient_funds", `{"amount": 101}`},
	{charge, 409, "too_large", `{"amount": 95}`},
	{takeJob, 404, "no_job", ""},
	{func() *Operation { return transfer("Transfer", ReadCommitted) }, 402, "insufficient_funds", `{"from": 1, "to": 2, "amount": 500}`},
	{func() *Operation { return transfer("Strict", Serializable) }, 402, "insufficient_funds", `{"from": 1, "to": 2, "amount": 500}`},
}

// A declared problem is rendered once, at the start: the first answer, its record
// and all that follow are the same bytes, from every strategy.
func TestOwnProblemsAreByteTrue(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		op := c.op()
		t.Run(string(op.Name)+" "+c.code, func(t *testing.T) {
			var calls atomic.Int64
			s := openWith(t, nil, Options{Problem: ownBody(&calls)}, op)
			atStart := calls.Load()
			first := s.post(op.Name, "k", c.body)
			wantOwn(t, first, c.status, c.code)
			again := s.post(op.Name, "k", c.body)
			wantOwn(t, again, c.status, c.code)
			other := s.post(op.Name, "other", c.body)
			if first.Body.String() != again.Body.String() || first.Body.String() != other.Body.String() || again.Header().Get(replayedHeader) != "true" {
				t.Errorf("%s, again %s, another key %s", first.Body, again.Body, other.Body)
			}
			if calls.Load() != atStart {
				t.Errorf("%d calls at run time", calls.Load()-atStart)
			}
			// A service without the function, or with another, replays the same.
			plain := openWith(t, s, Options{}, op)
			if w := plain.post(op.Name, "k", c.body, "Accept", "text/markdown"); w.Body.String() != first.Body.String() || w.Header().Get("Content-Type") != ownType {
				t.Errorf("replayed elsewhere: %v %s", w.Header(), w.Body)
			}
		})
	}
}

// Go callers get an *Error of a refusal in any form, first and replayed.
func TestOwnProblemsAreErrorsInGo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	for name, problem := range map[string]func(*Error) (string, []byte){
		"default": nil, "own": ownBody(&calls),
		"own, of the default's type": func(e *Error) (string, []byte) { return problemType, []byte(`{"title": "mine"}`) },
	} {
		for _, c := range refusals {
			op := c.op()
			s := openWith(t, nil, Options{Problem: problem}, op)
			in := []any{int64(1), int64(101)}
			switch op.Name {
			case "TakeJob":
				in = nil
			case "Transfer", "Strict":
				in = []any{int64(1), int64(2), int64(500)}
			}
			if c.code == "too_large" {
				in[1] = int64(95)
			}
			for _, replayed := range []bool{false, true} {
				meta, err := s.Call(context.Background(), op.Name, []any{"t1"}, "k", in, nil)
				var e *Error
				if !errors.As(err, &e) || e.Status != c.status || e.Code != c.code || meta.Status != c.status || meta.Replayed != replayed {
					t.Errorf("%s, %s %s: %v, %+v", name, op.Name, c.code, err, meta)
				}
				if len(meta.Header[problemMark]) > 0 {
					t.Errorf("the mark is shown: %v", meta.Header)
				}
			}
		}
	}
}

// What only the moment knows is rendered then, and recorded as it was.
func TestOwnProblemsAtRunTime(t *testing.T) {
	var existing, detail atomic.Bool
	s := openWith(t, nil, Options{Problem: func(e *Error) (string, []byte) {
		existing.Store(existing.Load() || strings.Contains(string(e.Existing), `"o1"`))
		detail.Store(detail.Load() || e.Detail != "")
		if errors.Unwrap(e) != nil {
			t.Error("the cause is shown")
		}
		return ownType, fmt.Appendf(nil, "<e code='%s' status='%d'>%s%v</e>", e.Code, e.Status, e.Existing, e.Fields)
	}}, createPayment("Create", patience, true))
	wantOwn(t, s.post("Create", "", order1), 400, "key-missing")
	wantOwn(t, s.post("Create", "k", `{"amount": "x"}`), 422, "input-invalid")
	wantOwn(t, s.post("Create", "k", order1, "X-Tenant", "nobody"), 401, "unauthenticated")
	wantStatus(t, s.post("Create", "k", order1), 201)
	wantOwn(t, s.post("Create", "k", `{"order_id": "o2", "amount": 5}`), 422, "key-reused")
	conflict := s.post("Create", "k2", order1)
	wantOwn(t, conflict, 409, "intent-conflict")
	if again := s.post("Create", "k2", order1); again.Body.String() != conflict.Body.String() {
		t.Errorf("%s, again %s", conflict.Body, again.Body)
	}
	if !existing.Load() || !detail.Load() {
		t.Error("the function was not told everything")
	}
}

// At the start, what can't be rendered is an error that names the problem; later
// it is the default body, and a line in the log.
func TestOwnProblemsThatFail(t *testing.T) {
	pool := idemtest.Pool(t, shopTables)
	wrong := map[string]struct {
		problem func(*Error) (string, []byte)
		says    string
	}{
		"panic":     {func(*Error) (string, []byte) { panic("at the disco") }, "at the disco"},
		"no body":   {func(*Error) (string, []byte) { return ownType, nil }, "the body is empty"},
		"no type":   {func(*Error) (string, []byte) { return "", []byte("x") }, `"" is not a content type`},
		"bad type":  {func(*Error) (string, []byte) { return "text", []byte("x") }, `"text" is not a content type`},
		"two lines": {func(*Error) (string, []byte) { return "text/plain; a=\"\n\"", []byte("x") }, "content type"},
		"bytes":     {func(*Error) (string, []byte) { return ownType, []byte{0xff} }, "not text in UTF-8"},
		"nul":       {func(*Error) (string, []byte) { return ownType, []byte("a\x00b") }, "not text in UTF-8"},
		"too large": {func(*Error) (string, []byte) { return ownType, bytes.Repeat([]byte("x"), storeLimit+1) }, "more than the 1048576"},
	}
	for name, c := range wrong {
		t.Run(name, func(t *testing.T) {
			_, err := New(pool, shopConfig(charge()), shopCaller, Options{Problem: c.problem})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "409 insufficient_funds of operation Charge") {
				t.Errorf("New: %v", err)
			}
			var log bytes.Buffer
			s := openWith(t, &shop{pool: pool}, Options{
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Problem: func(e *Error) (string, []byte) {
					if e.Code == "key-missing" {
						return c.problem(e)
					}
					return ownType, []byte(e.Code)
				},
			}, charge())
			wantCode(t, s.post("Charge", "", `{"amount": 1}`), 400, "key-missing")
			if !strings.Contains(log.String(), "Options.Problem failed") {
				t.Errorf("log: %s", &log)
			}
		})
	}
	// The problem of a check is tried as well, wherever the field stands.
	op := createPayment("Create", patience, true)
	op.Steps[0].Errors, op.Fields = nil, append([]Field{}, op.Fields...)
	op.Fields[1].Checks = []Check{{Op: CheckMin, Value: "1", Problem: &Problem{422, "too_small", ""}}}
	_, err := New(pool, shopConfig(op), shopCaller, Options{Problem: func(e *Error) (string, []byte) { return ownType, []byte(strings.TrimPrefix(e.Code, "too_small")) }})
	if err == nil || !strings.Contains(err.Error(), "422 too_small of operation Create") {
		t.Errorf("a check's: %v", err)
	}
}
