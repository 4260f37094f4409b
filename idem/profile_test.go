package idem

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestProfile_FirstAnswerAndReplay(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		first := c.send("Pay", "key-1", order1)
		wantStatus(t, first, 201)
		c.wantRepeated(t, first, c.send("Pay", "key-1", order1))
		if n := c.count(t, "SELECT count(*) FROM payments"); n != 1 || first.Body.Len() == 0 {
			t.Errorf("%d payments, %s", n, first.Body)
		}
		c.wantKept(t, 24*time.Hour)
	})
}

func TestProfile_OtherPayload(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		first := c.send("Pay", "key-1", order1)
		other := c.send("Pay", "key-1", `{"order_id": "o2", "amount": 5}`)
		if c.reused == 0 {
			c.wantRepeated(t, first, other)
		} else {
			c.wantRefusal(t, other, c.reused, "key-reused", "")
			c.wantHeaders(t, other, c.echo, c.first)
		}
		if n := c.count(t, "SELECT count(*) FROM payments"); n != 1 {
			t.Errorf("%d payments", n)
		}
	})
}

// A twin in the same process, and one in another.
func TestProfile_InFlight(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		other := c.serve(t, c.shop)
		// Its wait for rows has no bound, once it has the claim.
		end := hold(t, c.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
		name, body := Name("Transfer"), bodyFor("Transfer")
		for _, process := range []counter{c, other} {
			process.operations[name].Policy.Wait = 0
		}
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- c.send(name, "key-1", body) }()
		awaitBlocked(t, c.shop)
		for _, process := range []counter{c, other} {
			w := process.send(name, "key-1", body)
			wantStatus(t, w, c.inFlight)
			if c.inFlight == 200 {
				if w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" || w.Header().Get("Content-Length") != "0" {
					t.Errorf("%v %s", w.Header(), w.Body)
				}
			} else {
				wantCode(t, w, 409, "in-flight")
			}
			c.wantHeaders(t, w, c.echo, c.running)
			if w.Header().Get("Retry-After") != "1" || w.Header().Get("X-Should-Retry") != "true" {
				t.Errorf("%v", w.Header())
			}
			if _, err := process.Call(t.Context(), name, []any{"t1"}, "key-1", []any{int64(1), int64(2), int64(1)}, nil); CodeOf(err) != "in-flight" {
				t.Errorf("from Go: %v", err)
			}
		}
		end(false)
		first := <-done
		wantStatus(t, first, 201)
		c.wantRepeated(t, first, other.send(name, "key-1", body))
		c.wantKept(t, 24*time.Hour)
	})
}

func TestProfile_InvalidKey(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		invalid := []string{"", "a b", "a,b", `"open`, "schlüssel", strings.Repeat("x", 256)}
		if c.profile == ProfileGateway {
			invalid = append(invalid, "ab", strings.Repeat("x", 129), `"key-1"`, "key-1;a=1", "key/1", "key:1", "key~1", "key=1", "a\x7fbc", "k€y-1")
		}
		const message = "invalid idempotency key: It must be 3 to 128 characters of A-Z, a-z, 0-9, dot, underscore and hyphen."
		for _, key := range invalid {
			w := c.call("Pay", http.MethodPost, "1", order1, c.keyHeader, key)
			c.wantRefusal(t, w, 400, "key-invalid", message)
			c.wantHeaders(t, w, "", "")
			if key != "" && strings.Contains(w.Body.String(), key) {
				t.Errorf("%q is echoed: %s", key, w.Body)
			}
		}
		twice := c.call("Pay", http.MethodPost, "1", order1, c.keyHeader, "key-1", c.keyHeader, "key-1")
		c.wantRefusal(t, twice, 400, "key-invalid", "invalid idempotency key: More than one header line was sent.")
		if n := c.count(t, "SELECT (SELECT count(*) FROM payments) + (SELECT count(*) FROM idem.keys)"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestProfile_ValidKeys(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		valid := map[string]string{"a": `"a"`, strings.Repeat("x", 255): `"` + strings.Repeat("x", 255) + `"`, `"a\"b"`: `"a\"b"`, `"q";v=1`: `"q"`}
		if c.profile == ProfileGateway {
			valid = map[string]string{"abc": "abc", "AZaz09._-": "AZaz09._-", strings.Repeat("x", 128): strings.Repeat("x", 128), " padded\t": "padded"}
		}
		n := 0
		for key, echo := range valid {
			n++
			w := c.send("Pay", key, `{"order_id": "o`+strconv.Itoa(n)+`", "amount": 5}`)
			wantStatus(t, w, 201)
			c.wantHeaders(t, w, echo, c.first)
		}
	})
}

func TestProfile_MissingKey(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		w := c.send("Pay", "", order1)
		c.wantHeaders(t, w, "", "")
		payments := int64(1)
		if c.required {
			payments = 0
			c.wantRefusal(t, w, 400, "key-missing", "")
		} else {
			wantStatus(t, w, 201)
		}
		w = c.send("Charge", "", `{"amount": 1}`) // its key is required, whatever the profile
		c.wantRefusal(t, w, 400, "key-missing", "Idempotency key missing: This operation needs the header X-Idempotency-Key.")
		c.wantHeaders(t, w, "", "")
		if !strings.Contains(w.Body.String(), "the header "+c.keyHeader+".") {
			t.Errorf("the header is not named: %s", w.Body)
		}
		// The header of another profile is none.
		for _, d := range dialects {
			if d.keyHeader != c.keyHeader {
				wantStatus(t, c.call("Charge", http.MethodPost, "1", `{"amount": 1}`, d.keyHeader, "key-1"), 400)
			}
		}
		if n := c.count(t, "SELECT count(*) FROM payments"); n != payments {
			t.Errorf("%d payments", n)
		}
		if n := c.count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
			t.Errorf("%d records", n)
		}
	})
}

// Every way to a declared client error, of every strategy.
func TestProfile_ClientError(t *testing.T) {
	t.Parallel()
	cases := []struct {
		situation     string
		op            Name
		body          string
		status        int
		code, message string
	}{
		{"@empty", "Charge", `{"amount": 1000}`, 409, "insufficient_funds", "not enough money"},
		{"@require", "Charge", `{"amount": 95}`, 409, "too_large", "charge in smaller parts"},
		{"@error", "Pay", `{"order_id": "o1", "amount": 0}`, 422, "amount_not_positive", "amount must be positive"},
		{"verbatim @empty", "TakeJob", "", 404, "no_job", "no job is free"},
		{"stepped @require", "Transfer", `{"from": 2, "to": 1, "amount": 9}`, 402, "insufficient_funds", "Payment Required"},
		{"serializable @require", "Strict", `{"from": 2, "to": 9, "amount": 9}`, 404, "no_such_account", "Not Found"},
	}
	eachDialect(t, func(t *testing.T, c counter) {
		for _, test := range cases {
			c.exec(t, "DELETE FROM idem.keys")
			first := c.send(test.op, "key-1", test.body)
			c.wantRefusal(t, first, test.status, test.code, test.message)
			c.wantRepeated(t, first, c.send(test.op, "key-1", test.body))
			if first.Header().Get("X-Should-Retry") != "false" {
				t.Errorf("%s: %v", test.situation, first.Header())
			}
			if test.op == "Pay" || test.op == "Transfer" || test.op == "Strict" { // the rest has its time in the SQL of this fixture
				c.wantKept(t, c.clientError)
			}
		}
	})
}

// A caller from Go gets status and code of a refusal in every profile, also from
// a record, whose body may not say them.
func TestProfile_RefusalsFromGo(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		for range 2 {
			for name, in := range map[Name][]any{"Charge": {int64(1), int64(1000)}, "Transfer": {int64(2), int64(1), int64(9)}} {
				meta, err := c.Call(t.Context(), name, []any{"t1"}, "key-1", in, nil)
				var e *Error
				if !errors.As(err, &e) || e.Code != "insufficient_funds" || e.Status != meta.Status || e.Status < 400 {
					t.Errorf("%s: %+v %v", name, meta, err)
				}
			}
		}
		if n := c.count(t, "SELECT count(*) FROM idem.keys"); n != 2 {
			t.Errorf("%d records", n)
		}
	})
}

// Before the claim nothing is recorded, and the form is the same.
func TestProfile_RefusedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		w := c.send("Pay", "key-1", `{"order_id": "o1"`)
		wantStatus(t, w, 400)
		if c.profile == ProfileGateway && !strings.HasPrefix(w.Body.String(), `{"code":"400","message":"The request body is not valid JSON: `) {
			t.Errorf("%s", w.Body)
		}
		c.wantHeaders(t, w, c.echo, "")
		w = c.send("Pay", "key-1", `{"order_id": "o1", "amount": "many"}`)
		wantStatus(t, w, 422)
		if c.profile == ProfileGateway && !strings.Contains(w.Body.String(), `: /amount must be`) {
			t.Errorf("%s", w.Body)
		}
		c.wantRefusal(t, c.call("Pay", http.MethodPost, "1", order1, "X-Tenant", "nobody"), 401, "unauthenticated", "Authentication required")
		c.wantRefusal(t, c.call("Pay", http.MethodPut, "1", order1), 405, "method-not-allowed", "Method not allowed")
		if n := c.count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
			t.Errorf("%d records", n)
		}
	})
}

// An unexpected error is recorded, once the writes are undone, for as long as
// the profile says; 503 never is.
func TestProfile_ServerError(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		c.failWith(t, "57P03")
		wantStatus(t, c.send("Pay", "key-1", order1), 503)
		c.failWith(t, "XX000")
		first := c.send("Pay", "key-1", order1)
		c.wantRefusal(t, first, 500, "internal", "Internal error")
		c.exec(t, "DROP TRIGGER fail ON payments")
		again := c.send("Pay", "key-1", order1)
		if c.serverError == 0 {
			wantStatus(t, again, 201)
			c.wantHeaders(t, again, c.echo, c.first)
			c.wantKept(t, 24*time.Hour)
			return
		}
		c.wantRepeated(t, first, again)
		c.wantKept(t, c.serverError)
		if n := c.count(t, "SELECT count(*) FROM payments"); n != 0 || again.Header().Get("X-Should-Retry") != "false" {
			t.Errorf("%d payments, %v", n, again.Header())
		}
	})
}

// What a statement cache met is worth another try, so it is never recorded.
func TestProfile_AStaleStatementIsNotRecorded(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, c counter) {
		c.failWith(t, "0A000")
		c.wantRefusal(t, c.send("Pay", "key-1", order1), 500, "internal", "Internal error")
		c.exec(t, "DROP TRIGGER fail ON payments")
		wantStatus(t, c.send("Pay", "key-1", order1), 201)
	})
}

// The record that a twin has made by then wins.
func TestAServerErrorNeverReplacesARecord(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	request := Request{Scope: "t1", Operation: "shop.x", Key: "k", Policy: Policy{ServerError: time.Hour}}
	response, meta, err := Do(t.Context(), pool, request, func(ctx context.Context, _ Tx) (Response, error) {
		if _, err := pool.Exec(ctx, winner, digestOf("shop.x", "k")); err != nil {
			t.Error(err)
		}
		panic("too late")
	})
	if err != nil || response.Status != 201 || string(response.Body) != `{"id": "winner"}` || !meta.Replayed {
		t.Errorf("%d %s %+v %v", response.Status, response.Body, meta, err)
	}
}

// No record may hold a header by which any profile speaks of the key.
func TestHeadersOfEveryProfileAreNeverStored(t *testing.T) {
	for profile, p := range protocols {
		for _, name := range []string{p.keyHeader, p.told} {
			if name != textproto.CanonicalMIMEHeaderKey(name) || !neverStored[name] {
				t.Errorf("%s: %s", profile, name)
			}
		}
	}
	if len(protocols) != len(dialects) {
		t.Errorf("%d profiles, %d tested", len(protocols), len(dialects))
	}
}

func TestAnUnknownProfileIsRefused(t *testing.T) {
	t.Parallel()
	cfg := shopConfig(takeJob())
	for _, profile := range []Profile{"", "soap", "IETF"} {
		cfg.Profile = profile
		if _, err := New(idemtest.Pool(t), cfg, shopCaller, Options{}); err == nil || !strings.Contains(err.Error(), "unknown profile") {
			t.Errorf("%q: %v", profile, err)
		}
	}
}
