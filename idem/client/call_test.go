package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/client"
)

type payment struct {
	ID   int64  `json:"id"`
	Note string `json:"note"`
}

func create(body any, options ...client.CallOption) client.Call {
	return client.Call{Operation: "CreatePayment", Method: http.MethodPost, Path: "/v1/payments", Body: body, Keyed: true, Options: options}
}

func TestCallRepeatsAnAnswerThatWasCutShort(t *testing.T) {
	s := serve(t, cut, lost, answer(201, `{"id": 9007199254740993}`, "Idempotent-Replayed", "true"))
	c, _ := newClient(t, s, client.Options{})
	var out payment
	meta, err := c.Call(t.Context(), create(payment{Note: "<&>"}), &out)
	if err != nil || out.ID != 9007199254740993 {
		t.Fatal(out, err)
	}
	if meta.Tries != 3 || !meta.Replayed || meta.Status != 201 {
		t.Errorf("meta %+v", meta)
	}
	if want := slices.Repeat([]string{`"` + meta.Key + `"`}, 3); len(meta.Key) != 36 || !slices.Equal(s.keys, want) {
		t.Errorf("keys %q, meta says %q", s.keys, meta.Key)
	}
	if s.bodies[0] != `{"id":0,"note":"<&>"}` {
		t.Errorf("body %s", s.bodies[0])
	}
}

func TestTwoCallsHaveTwoKeys(t *testing.T) {
	s := serve(t, answer(204, ""))
	c, _ := newClient(t, s, client.Options{})
	for range 2 {
		if _, err := c.Call(t.Context(), create(payment{}), nil); err != nil {
			t.Fatal(err)
		}
	}
	if s.keys[0] == s.keys[1] {
		t.Errorf("keys %q", s.keys)
	}
}

func TestTheProfileSaysHowAKeyIsSent(t *testing.T) {
	for profile, want := range map[client.Profile]string{
		"": `"a\"b\\c"`, client.IETF: `"a\"b\\c"`, client.Stripe: `a"b\c`, client.Gateway: `a"b\c`,
	} {
		s := serve(t, answer(204, ""))
		c, _ := newClient(t, s, client.Options{Profile: profile})
		meta, err := c.Call(t.Context(), create(nil, client.WithKey(`a"b\c`)), nil)
		if err != nil || s.keys[0] != want {
			t.Errorf("%s: %q, %v; want %q", profile, s.keys, err, want)
		}
		if profile != client.Stripe && profile != client.Gateway && meta.Key != `a"b\c` {
			t.Errorf("%s: meta says %q", profile, meta.Key)
		}
	}
}

func TestAProblemIsTyped(t *testing.T) {
	s := serve(t, answer(409, `{"type":"urn:idemgen:problem:intent-conflict","title":"There is one","status":409,"detail":"d",
		"instance":"urn:uuid:1","code":"intent-conflict","retryable":false,"idempotency_key":"k","existing":{"id":7},
		"errors":[{"pointer":"/order_id","code":"taken","detail":"taken"}]}`, "X-Should-Retry", "false", "Content-Type", "application/problem+json"))
	c, _ := newClient(t, s, client.Options{})
	var meta client.Meta
	_, err := c.Call(t.Context(), create(payment{}, client.WithKey("k"), client.WithMeta(&meta)), nil)
	var p *client.Problem
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	existing, err := client.Decode[payment](p.Existing)
	if err != nil || existing.ID != 7 {
		t.Error(existing, err)
	}
	if p.Status != 409 || p.Code != "intent-conflict" || client.CodeOf(p) != p.Code || p.Retryable || p.Key != "k" || p.Tries != 1 ||
		p.Type != "urn:idemgen:problem:intent-conflict" || p.Instance != "urn:uuid:1" || len(p.Fields) != 1 || p.Fields[0].Pointer != "/order_id" {
		t.Errorf("%+v", p)
	}
	if text := p.Error(); text != "client: CreatePayment: 409 intent-conflict: There is one: d" {
		t.Error(text)
	}
	if meta.Status != 409 || meta.Tries != 1 {
		t.Errorf("%+v", meta)
	}
}

func TestARefusalOfAnyFormIsAProblem(t *testing.T) {
	huge := strings.Repeat("x", 70<<10)
	for name, c := range map[string]struct {
		status int
		body   string
		want   client.Problem
	}{
		"gateway":    {400, `{"code":"400","message":"invalid idempotency key: too short"}`, client.Problem{Code: "400", Title: "Bad Request", Detail: "invalid idempotency key: too short"}},
		"text":       {503, "upstream connect error", client.Problem{Title: "Service Unavailable", Retryable: true}},
		"empty":      {404, "", client.Problem{Title: "Not Found"}},
		"wrong type": {422, `{"code": 17, "title": []}`, client.Problem{Title: "Unprocessable Entity"}},
		"huge":       {404, huge, client.Problem{Title: "Not Found"}},
	} {
		s := serve(t, answer(c.status, c.body))
		cl, _ := newClient(t, s, client.Options{MaxTries: 1})
		_, err := cl.Call(t.Context(), create(payment{}), nil)
		var p *client.Problem
		if !errors.As(err, &p) || p.Status != c.status || p.Code != c.want.Code || p.Title != c.want.Title || p.Detail != c.want.Detail || p.Retryable != c.want.Retryable {
			t.Errorf("%s: %+v", name, p)
		}
		if p != nil && string(p.Body) != c.body[:min(len(c.body), 64<<10)] {
			t.Errorf("%s: %d bytes", name, len(p.Body))
		}
	}
}

func TestTheGatewaysInFlightIsRepeatedAndThenAProblem(t *testing.T) {
	running := answer(200, "", "X-Idempotency-Status", "processing")
	s := serve(t, running, answer(201, `{"id":1}`, "X-Idempotency-Status", "duplicate"))
	c, _ := newClient(t, s, client.Options{Profile: client.Gateway})
	var out payment
	if meta, err := c.Call(t.Context(), create(payment{}), &out); err != nil || out.ID != 1 || !meta.Replayed || meta.Tries != 2 {
		t.Fatal(out, err, meta)
	}
	s = serve(t, running)
	c, _ = newClient(t, s, client.Options{Profile: client.Gateway})
	_, err := c.Call(t.Context(), create(payment{}), &out)
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != "in-flight" || !p.Retryable || p.Tries != 6 {
		t.Errorf("%v", err)
	}
}

func TestACallWithoutAnAnswerSaysWhetherItMayHaveBeenDone(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, lost)
	for url, unknown := range map[string]bool{s.URL: true, "http://" + closed.Addr().String(): false} {
		c, err := client.New(url, client.Options{Clock: &jumpClock{}, MaxElapsed: -1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Call(t.Context(), create(payment{}, client.WithKey("k")), nil)
		var e *client.Error
		if !errors.As(err, &e) || e.Unknown != unknown || e.Key != "k" || e.Tries != 6 || e.Operation != "CreatePayment" {
			t.Errorf("%s: %+v", url, e)
		}
	}
}

func TestAnswersThatCantBeReadAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		max  int64
	}{"no JSON": {"<html>", 0}, "another type": {`{"id":"seven"}`, 0}, "too large": {`{"id":1234567}`, 10}} {
		s := serve(t, answer(200, c.body))
		cl, _ := newClient(t, s, client.Options{MaxBody: c.max})
		var out payment
		_, err := cl.Call(t.Context(), create(payment{}), &out)
		var e *client.Error
		if !errors.As(err, &e) || !e.Unknown || s.tries() != 1 {
			t.Errorf("%s: %v after %d tries", name, err, s.tries())
		}
	}
}

func TestWhatCantBeSentIsNotSent(t *testing.T) {
	s := serve(t, answer(204, ""))
	c, _ := newClient(t, s, client.Options{})
	for name, call := range map[string]client.Call{
		"key with a space":  create(nil, client.WithKey("a b")),
		"key with a line":   create(nil, client.WithKey("a\r\nX: y")),
		"key too long":      create(nil, client.WithKey(strings.Repeat("k", 256))),
		"body":              create(func() {}),
		"method with space": {Method: "PO ST", Path: "/"},
	} {
		if meta, err := c.Call(t.Context(), call, nil); err == nil || meta.Tries != 0 || s.tries() != 0 {
			t.Errorf("%s: %v, %+v", name, err, meta)
		}
	}
}

func TestACallSendsWhatItIsTold(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"note":"`+strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("X-One"),
			r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), r.Header.Get("X-Force-Retry"), r.Header.Get("Content-Type")}, " ")+`"}`)
	})
	c, err := client.New(s.URL+"/prefix/", client.Options{Header: http.Header{"authorization": {"Bearer t"}, "X-One": {"general"}}})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	call := client.Call{Method: http.MethodGet, Path: client.Path("/v1/{shop}/{id}", "a/b", ".."), Query: url.Values{"limit": {"5"}}, Header: header,
		Key: "never sent", Options: []client.CallOption{client.WithHeader("X-One", "own"), client.WithForceRetry()}}
	var out payment
	if _, err := c.Call(t.Context(), call, &out); err != nil || out.Note != "GET /prefix/v1/a%2Fb/%2E%2E limit=5 own Bearer t  true " {
		t.Errorf("%q, %v", out.Note, err)
	}
	if len(header) != 0 {
		t.Error("the Call was changed")
	}
}

func TestNewRefusesWhatIsNoService(t *testing.T) {
	for _, base := range []string{"", "example.com", "ftp://example.com", "http://", "http://a/?x=1", "http://a/#x", "http://%zz"} {
		if _, err := client.New(base, client.Options{}); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
	if _, err := client.New("http://u:secret@a/?x=1", client.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if _, err := client.New("http://a", client.Options{Profile: "itf"}); err == nil || !strings.Contains(err.Error(), "gateway") {
		t.Errorf("%v", err)
	}
}

func TestAnOptionalTellsAbsentFromNull(t *testing.T) {
	type patch struct {
		A client.Optional[*string] `json:"a,omitzero"`
		B client.Optional[*string] `json:"b,omitzero"`
		C client.Optional[int64]   `json:"c,omitzero"`
	}
	text, err := json.Marshal(patch{B: client.Some[*string](nil), C: client.Some(int64(0))})
	if err != nil || string(text) != `{"b":null,"c":0}` {
		t.Fatal(string(text), err)
	}
	var back patch
	if err := json.Unmarshal(text, &back); err != nil || back.A.Set || !back.B.Set || back.B.Value != nil || !back.C.Set {
		t.Errorf("%+v, %v", back, err)
	}
}
