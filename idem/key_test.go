package idem

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

func TestCase_key_1(t *testing.T) {
	long := strings.Repeat("k", 255)
	valid := map[string]string{
		"abc": "abc", `"abc"`: "abc", long: long, `"` + long + `"`: long, `"a,b"`: "a,b", `"a\"b\\c"`: `a"b\c`,
		`"abc";v=1`: "abc", "abc;v=1": "abc", `abc; v;w="x"`: "abc", "a:b/c=": "a:b/c=", "~!": "~!", " abc\t": "abc",
	}
	for line, want := range valid {
		if got, err := ietf.readKey([]string{line}); err != nil || got != want {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	invalid := []string{
		"", `""`, long + "k", `"` + long + `k"`, `"abc`, `abc"`, `"a"b`, "a,b", `a\b`, "a b", `"a b"`, "a\x01b", `"a` + "\x7f" + `"`,
		"ключ", `"ключ"`, `"a\x"`, `"a" ;v`, `"a";`, "a;V=1", "a;v=", `"a"; v="x`, ";v=1",
	}
	for _, line := range invalid {
		if got, err := ietf.readKey([]string{line}); err == nil {
			t.Errorf("%q: accepted as %q", line, got)
		}
	}
	if _, err := ietf.readKey([]string{"a", "a"}); err == nil {
		t.Error("two lines")
	}
}

// 400 over HTTP, never 500, and an invalid key is not echoed.
func TestCase_key_1_http(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	for _, lines := range [][]string{{""}, {"a b"}, {"a", "b"}, {strings.Repeat("k", 256)}, {"\x00"}, {"é"}, {`"`}, {"a,b"}} {
		r := httptest.NewRequest(http.MethodPost, "/Create/1", strings.NewReader(order1))
		r.Header.Set("Content-Type", "application/json")
		r.Header[keyHeader] = lines
		w := newRecorder()
		s.mux.ServeHTTP(w, r)
		wantCode(t, w, 400, "key-invalid")
		if w.Header().Get(keyHeader) != "" || strings.Contains(w.Body.String(), "idempotency_key") {
			t.Errorf("%q is echoed", lines)
		}
	}
	bare := s.call("Create", "POST", "1", order1, keyHeader, "k")
	quoted := s.call("Create", "POST", "1", order1, keyHeader, `"k"`)
	sameAnswer(t, bare, quoted)
	if got := quoted.Header().Get(keyHeader); got != `"k"` {
		t.Errorf("echo %s", got)
	}
}

func FuzzHeaderKey(f *testing.F) {
	for _, seed := range []string{"abc", `"a\"b"`, `"a";v="x";w=1`, "", `"`, ";", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		key, err := ietf.readKey([]string{line})
		if err != nil {
			return
		}
		again, err := ietf.readKey([]string{quoteKey(key)})
		if err != nil || again != key {
			t.Errorf("%q is %q, serialised %q", line, key, again)
		}
	})
}

func TestDerivedKeys(t *testing.T) {
	t.Parallel()
	intent := createPayment("Intent", "2000ms", true)
	intent.Key = Key{From: KeyIntent}
	intent.Steps[0].Intent.Key = fieldArgs(3, 0)
	source := createPayment("Source", "2000ms", true)
	source.Key = Key{From: KeySource, Arg: Arg{From: ArgField, Field: 0}}
	s := newShop(t, intent, source)
	for _, name := range []Name{"Intent", "Source"} {
		s.exec(t, "TRUNCATE payments")
		first := s.post(name, "", order1)
		wantStatus(t, first, 201)
		sameAnswer(t, first, s.post(name, "", order1))
		wantCode(t, s.post(name, "", `{"order_id": "o1", "amount": 6}`), 422, "key-reused")
		wantStatus(t, s.post(name, "", `{"order_id": "o 2", "amount": 6}`), 201)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE key = 'o1'"); n != 1 {
		t.Errorf("a valid source is the key itself: %d", n)
	}
}

// Joined strings must not run together.
func TestPitfall_31_PartsOfAKeyDoNotRunTogether(t *testing.T) {
	if string(hashParts("a", "b/c")) == string(hashParts("a/b", "c")) || string(digestOf("ab", "c")) == string(digestOf("a", "bc")) {
		t.Error("same digest")
	}
	if lockOf("a", "bc", "d") == lockOf("ab", "c", "d") {
		t.Error("same lock")
	}
}
