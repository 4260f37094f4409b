package idemtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Fixture is one request that is about to be sent. Kit.Fixtures makes what it
// needs and tells it by Set.
type Fixture struct {
	Operation string
	Caller    string // "a" or "b"
	N         int64  // a number that no other request of this run has
	// Refused: the request is to be one that the operation answers with a
	// declared client error. Where nothing is set to that end, the kit looks
	// whether the same request under another key is refused.
	Refused bool
	Pool    *pgxpool.Pool

	t testing.TB
	s *subject
	p *probe
}

// Set gives an input of the request a value; the name is Input.Name. The values
// of paths, queries and headers are written as by fmt.Sprint, those of body
// members as by json.Marshal.
func (f *Fixture) Set(input string, value any) {
	f.t.Helper()
	if err := f.s.set(input, value); err != nil {
		f.t.Fatalf("idemtest: fixture of %s: %v", f.Operation, err)
	}
}

// Send sends another request of the same caller, under a key of its own, and
// gives the members of the answer. It ends the test unless the status is 2xx.
func (f *Fixture) Send(method, path, body string) map[string]any {
	f.t.Helper()
	r := newRequest(f.t.Context(), method, path, []byte(body))
	r.Header.Set(f.p.by.keyHeader, newKey())
	f.p.as(r, f.Caller)
	got := f.p.by.serve(f.p.handlers[0], r)
	if got.status/100 != 2 {
		f.t.Fatalf("idemtest: fixture of %s: %s %s: %s", f.Operation, method, path, got.shown(enoughShown))
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(got.body))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil && len(got.body) > 0 {
		f.t.Fatalf("idemtest: fixture of %s: %s %s: %v in %s", f.Operation, method, path, err, got.body)
	}
	return members
}

// Exec executes SQL, and ends the test where it fails.
func (f *Fixture) Exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := f.Pool.Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatalf("idemtest: fixture of %s: %v", f.Operation, err)
	}
}

// Value is the one value that a query gives, as PostgreSQL writes it.
func (f *Fixture) Value(sql string, args ...any) string {
	f.t.Helper()
	var value string
	args = append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)
	if err := f.Pool.QueryRow(f.t.Context(), sql, args...).Scan(&value); err != nil {
		f.t.Fatalf("idemtest: fixture of %s: %v", f.Operation, err)
	}
	return value
}

// as makes r a request of a caller.
func (r *rig) as(request *http.Request, caller string) {
	if r.kit.As != nil {
		r.kit.As(request, caller)
		return
	}
	request.Header.Set(CallerHeader, caller)
}
