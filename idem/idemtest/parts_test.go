package idemtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// The scanner finds the end of a transaction however the bytes arrive, and not
// inside other messages.
func TestReadyScanner(t *testing.T) {
	const (
		row    = "D\x00\x00\x00\x0b\x00\x00Z\x00\x00\x00\x05"
		inside = "Z\x00\x00\x00\x05T"
		idle   = "Z\x00\x00\x00\x05I"
		tag    = "C\x00\x00\x00\x0bCOMMIT\x00"
	)
	for _, c := range []struct {
		stream string
		found  bool
	}{
		{tag + idle, true}, {row + inside + tag + idle, true}, {row + inside + tag, false}, {strings.Repeat(row, 9), false},
	} {
		for size := 1; size <= len(c.stream); size++ {
			s, found := &readyScanner{}, false
			for rest := c.stream; rest != "" && !found; rest = rest[min(size, len(rest)):] {
				found = s.found([]byte(rest[:min(size, len(rest))]))
			}
			if found != c.found {
				t.Errorf("%q in pieces of %d: %t", c.stream, size, found)
			}
		}
	}
}

func TestSubjectIsTheRequestThatWasAskedFor(t *testing.T) {
	op := &Operation{
		Method: "PUT", Path: `/a/{id}/{code:[a-z]{2}}`, Body: `{"x": {"y": 9007199254740993}}`,
		Inputs: []Input{{Name: "path.id", Value: "1/2"}, {Name: "path.code", Value: "de"}, {Name: "query.q", Value: "a b"}, {Name: "header.X-Mode", Value: "m"}},
	}
	s, err := newSubject(op, protocols["ietf"], func(*http.Request) {})
	if err != nil {
		t.Fatal(err)
	}
	other := s.clone()
	for input, value := range map[string]any{"body.x.z": 3, "body.n.m": "deep", "path.id": 7} {
		if err := other.set(input, value); err != nil {
			t.Error(err)
		}
	}
	if got := s.target(); got != "/a/1%2F2/de?q=a+b" {
		t.Error(got)
	}
	if got := string(marshal(s.body)); got != `{"x":{"y":9007199254740993}}` {
		t.Errorf("a clone has changed the original: %s", got)
	}
	if got := string(marshal(other.body)); got != `{"n":{"m":"deep"},"x":{"y":9007199254740993,"z":3}}` || other.target() != "/a/7/de?q=a+b" {
		t.Errorf("%s %s", other.target(), got)
	}
	for _, wrong := range []string{"cookie.a", "body.x.y.z"} {
		if s.set(wrong, 1) == nil {
			t.Errorf("%s can be set", wrong)
		}
	}
	if got := string(respell(other.body)); string(marshal(mustDecode(t, got))) != string(marshal(other.body)) || got == string(marshal(other.body)) {
		t.Errorf("another spelling is %s", got)
	}
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	value, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFreshValues(t *testing.T) {
	for _, c := range []struct {
		in      Input
		example string
		want    any
	}{
		{Input{}, "order", "order-a"},
		{Input{Length: 4}, "order", "or-a"},
		{Input{Shape: "PX-[0-9A-Z]{3}"}, "PX-ABC", "PX-00A"},
		{Input{Shape: `[a-c][0-1]\.[a-c]`}, "", "b1.b"},
		{Input{Type: Number}, "5", int64(1015)},
		{Input{Type: Number}, "", int64(1010)},
	} {
		if got, err := fresh(c.in, c.example, 10); got != c.want || err != nil {
			t.Errorf("%+v: %v, %v, want %v", c, got, err, c.want)
		}
	}
	a, _ := fresh(Input{Type: UUID}, "", 1)
	if b, _ := fresh(Input{Type: UUID}, "", 1); a == b || len(a.(string)) != 36 {
		t.Errorf("%v, %v", a, b)
	}
	for _, wrong := range []string{"[", "a+", "a|b", "[0-9]"} {
		if got, err := fresh(Input{Name: "body.code", Shape: wrong}, "", 10); err == nil || !strings.Contains(err.Error(), "input body.code: Shape: ") {
			t.Errorf("%s gives %v, %v", wrong, got, err)
		}
	}
}

// Fixtures change the request, and may use the service and the database.
func TestFixtures(t *testing.T) {
	kit := carefulKit(t, careful{}, carefulSweep)
	calls := map[string]bool{}
	kit.Fixtures = func(_ testing.TB, f *Fixture) {
		calls[f.Caller] = true
		id := f.Send("POST", "/v1/payments", `{"amount": 1, "reference": "first"}`)["id"]
		f.Exec("UPDATE payments SET reference = 'changed' WHERE id = $1::bigint", id)
		f.Set("body.amount", f.Value("SELECT 40 + count(*) FROM payments WHERE id = $1::bigint AND reference = 'changed'", id))
		f.Set("body.amount", 41)
	}
	for promise, err := range findings(t, kit) {
		if !skipped(err) {
			t.Errorf("%s: %v", promise, err)
		}
	}
	if !calls["a"] || !calls["b"] {
		t.Errorf("called for %v", calls)
	}
}

// recorder is a test that is ended by what it is told.
type recorder struct {
	testing.TB
	told string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.told = fmt.Sprintf(format, args...)
	panic(r)
}

// A fixture that is refused has to be mended by what the problem says, all of it.
func TestFixtureShowsTheWholeProblem(t *testing.T) {
	problem := `{"errors": [` + strings.Repeat(`{"code": "min_length"}, `, 50) + `{"detail": "the last one"}]}`
	to := &recorder{TB: t}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, problem, http.StatusUnprocessableEntity) })
	f := &Fixture{Operation: "Pay", t: to, p: &probe{rig: &rig{kit: &Kit{}, by: protocols["ietf"], handlers: [2]http.Handler{h, h}}}}
	defer func() {
		if caught := recover(); caught != to {
			t.Errorf("Send has not ended the test: %v", caught)
		}
		if want := "idemtest: fixture of Pay: POST /v1/payments: 422 " + problem; to.told != want {
			t.Errorf("it says %s", to.told)
		}
	}()
	f.Send("POST", "/v1/payments", "{}")
}

func TestScanCaller(t *testing.T) {
	var tenant string
	var account pgtype.UUID
	var level int64
	scan := func(caller string) error {
		r := httptest.NewRequest("GET", "/", nil)
		if caller != "" {
			r.Header.Set(CallerHeader, caller)
		}
		return ScanCaller(r,
			CallerField{Into: &tenant, Type: "text", A: "one", B: "two"},
			CallerField{Into: &account, Type: "uuid", A: "00000000-0000-4000-8000-000000000001", B: "00000000-0000-4000-8000-000000000002"},
			CallerField{Into: &level, Type: "int8", A: "1", B: "2"})
	}
	if err := scan("b"); err != nil || tenant != "two" || account.Bytes[15] != 2 || level != 2 {
		t.Errorf("%v %q %v %d", err, tenant, account, level)
	}
	for _, nobody := range []string{"", "c"} {
		if scan(nobody) == nil {
			t.Errorf("%q is a caller", nobody)
		}
	}
}
