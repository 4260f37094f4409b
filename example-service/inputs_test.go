package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/payments/internal/db"
)

// Requests that can't be run: refused with a problem, and nothing is kept of
// them. The key stays free.
func TestInvalidInputs(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	c.customer(t, "ada")
	account, payment := c.account(t, 100), c.payment(t, "order-0")
	long := strings.Repeat("x", 101)
	const okAccount, okPayment = `{"owner": "Ada", "currency": "EUR"}`, `{"order_id": "o", "amount": 1, "currency": "EUR"}`

	cases := []struct {
		name     string
		r        string // METHOD path
		body     string
		status   int
		code     string
		pointers []string
	}{
		{"no body", "POST /v1/accounts", "", 400, "body-missing", nil},
		{"no JSON", "POST /v1/accounts", "owner=Ada", 400, "body-malformed", nil},
		{"cut off", "POST /v1/accounts", `{"owner": "Ada", "curr`, 400, "body-malformed", nil},
		{"more than one value", "POST /v1/accounts", okAccount + "{}", 400, "body-malformed", nil},
		{"an array", "POST /v1/accounts", `[` + okAccount + `]`, 400, "body-malformed", nil},
		{"not UTF-8", "POST /v1/accounts", "{\"owner\": \"\xff\", \"currency\": \"EUR\"}", 400, "body-malformed", nil},
		{"a member twice", "POST /v1/accounts", `{"owner": "Ada", "owner": "Eve", "currency": "EUR"}`, 400, "member-duplicate", nil},
		{"unknown members", "POST /v1/accounts", `{"owner": "Ada", "currency": "EUR", "tenant_id": "other", "a/b": 1}`, 400, "member-unknown", []string{"/tenant_id", "/a~1b"}},
		{"unknown parameter", "POST /v1/accounts?dry_run=true", okAccount, 400, "query-unknown", []string{"query:dry_run"}},
		{"all absent", "POST /v1/accounts", `{}`, 422, "input-invalid", []string{"/currency", "/owner"}},
		{"null", "POST /v1/accounts", `{"owner": null, "currency": null, "balance": null}`, 422, "input-invalid", []string{"/balance", "/currency", "/owner"}},
		{"wrong types", "POST /v1/accounts", `{"owner": 1, "currency": ["EUR"], "balance": true}`, 422, "input-invalid", []string{"/owner", "/currency", "/balance"}},
		{"too long", "POST /v1/accounts", `{"owner": "` + long + `", "currency": "EURO"}`, 422, "input-invalid", []string{"/currency", "/owner"}},
		{"too short", "POST /v1/accounts", `{"owner": "", "currency": ""}`, 422, "input-invalid", []string{"/currency", "/owner"}},
		{"pattern", "POST /v1/accounts", `{"owner": "Ada", "currency": "eur"}`, 422, "input-invalid", []string{"/currency"}},
		{"below zero", "POST /v1/accounts", `{"owner": "Ada", "currency": "EUR", "balance": -1}`, 422, "input-invalid", []string{"/balance"}},
		{"a fraction", "POST /v1/accounts", `{"owner": "Ada", "currency": "EUR", "balance": 1.5}`, 422, "input-invalid", []string{"/balance"}},
		{"above int8", "POST /v1/accounts", `{"owner": "Ada", "currency": "EUR", "balance": 9223372036854775808}`, 422, "input-invalid", []string{"/balance"}},
		{"far above int8", "POST /v1/accounts", `{"owner": "Ada", "currency": "EUR", "balance": 1e999999}`, 422, "input-invalid", []string{"/balance"}},
		{"zero bytes", "POST /v1/accounts", `{"owner": "A\u0000a", "currency": "EUR"}`, 422, "input-invalid", []string{"/owner"}},
		{"no amount of money", "POST /v1/payments", `{"order_id": "o", "amount": 0, "currency": "EUR"}`, 422, "amount_not_positive", []string{"/amount"}},
		{"several at once", "POST /v1/payments", `{"order_id": "", "amount": -5, "currency": "e"}`, 422, "input-invalid", []string{"/amount", "/currency", "/order_id"}},
		{"note that is no text", "POST /v1/payments", `{"order_id": "o", "amount": 1, "currency": "EUR", "note": {}}`, 422, "input-invalid", []string{"/note"}},
		{"path that is no number", "POST /v1/payments/abc/capture", "", 422, "input-invalid", []string{"path:id"}},
		{"path above int8", "POST /v1/payments/9223372036854775808/capture", "", 422, "input-invalid", []string{"path:id"}},
		{"body where none belongs", "POST /v1/payments/" + payment + "/capture", `{"amount": 1}`, 400, "member-unknown", []string{"/amount"}},
		{"transfer of nothing", "POST /v1/transfers", transferBody(account, account, 0), 422, "input-invalid", []string{"/amount"}},
		{"transfer to nobody", "POST /v1/transfers", `{"from_account": 1, "amount": 1}`, 422, "input-invalid", []string{"/to_account"}},
		{"name of a customer", "PUT /v1/customers/ada", `{"name": ""}`, 422, "input-invalid", []string{"/name"}},
		{"address of a customer", "PUT /v1/customers/ada", `{"name": "Ada", "email": "nowhere"}`, 422, "input-invalid", []string{"/email"}},
		{"id of a customer", "PUT /v1/customers/" + long, `{"name": "Ada"}`, 422, "input-invalid", []string{"path:id"}},
		{"parameter at DELETE", "DELETE /v1/customers/ada?force=1", "", 400, "query-unknown", []string{"query:force"}},
		{"parameter at GET", "GET /v1/payments/" + payment + "?verbose=1", "", 400, "query-unknown", []string{"query:verbose"}},
		{"parameter at a list", "GET /v1/payments?status=captured", "", 400, "query-unknown", []string{"query:status"}},
		{"parameter twice", "GET /v1/payments?limit=1&limit=2", "", 400, "query-duplicate", nil},
		{"bad escape", "GET /v1/payments?limit=%zz", "", 400, "query-malformed", nil},
		{"limit 0", "GET /v1/payments?limit=0", "", 422, "input-invalid", []string{"query:limit"}},
		{"limit 101", "GET /v1/payments?limit=101", "", 422, "input-invalid", []string{"query:limit"}},
		{"limit ten", "GET /v1/payments?limit=ten&after=x", "", 422, "input-invalid", []string{"query:after", "query:limit"}},
		{"empty limit", "GET /v1/payments?limit=", "", 422, "input-invalid", []string{"query:limit"}},
		{"read of no number", "GET /v1/accounts/abc", "", 422, "input-invalid", []string{"path:id"}},
	}
	before, records := state(t, s.pool), keys(t, s.pool)
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(test.r, " ")
			problem := c.send(t, request{method: method, path: path, key: "free", body: test.body}).refused(t, test.status, test.code)
			if got := pointers(problem); !slices.Equal(got, test.pointers) {
				t.Errorf("pointers %q, want %q", got, test.pointers)
			}
		})
	}
	if state(t, s.pool) != before || keys(t, s.pool) != records {
		t.Error("a refused request changed something")
	}
	if got := c.post(t, "/v1/payments", "free", okPayment); got.status != 201 || got.replayed() {
		t.Errorf("the key is not free: %d %s", got.status, got.body)
	}
}

func TestInvalidForms(t *testing.T) {
	c := newService(t).as(t, "acme")
	const body = `{"owner": "Ada", "currency": "EUR"}`
	accounts := func(header http.Header, body string) answer {
		return c.send(t, request{method: "POST", path: "/v1/accounts", key: "free", body: body, header: header})
	}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", "application/jsonx", "no media type", ""} {
		accounts(http.Header{"Content-Type": {media}}, body).refused(t, 415, "media-type")
	}
	huge := `{"currency": "EUR", "owner": "` + strings.Repeat("x", 1<<20) + `"}`
	accounts(nil, huge).refused(t, 413, "body-too-large")
	for _, media := range []string{"application/json; charset=utf-8", "application/merge-patch+json"} {
		if got := accounts(http.Header{"Content-Type": {media}}, body); got.status != 201 {
			t.Errorf("%s: %d %s", media, got.status, got.body)
		}
	}
	if got := c.send(t, request{method: "PUT", path: "/v1/accounts", body: body}); got.status != 405 {
		t.Errorf("PUT on a collection: %d", got.status)
	}
	if got := c.get(t, "/v1/nothing"); got.status != 404 {
		t.Errorf("no such route: %d", got.status)
	}
}

// Whatever is put into any member or path, the answer is a success or a client
// error that is a problem.
func TestNothingIsEverA500(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	account := c.account(t, 100)
	valid := map[string]map[string]string{
		"POST /v1/accounts":       {"owner": `"Ada"`, "currency": `"EUR"`, "balance": "1"},
		"POST /v1/payments":       {"order_id": `"o"`, "amount": "1", "currency": `"EUR"`, "note": `"n"`},
		"POST /v1/transfers":      {"from_account": account, "to_account": account, "amount": "1"},
		"POST /v1/orders":         {"reference": `"r"`, "items": `[{"sku": "S", "qty": 1, "price": "1"}]`},
		"PUT /v1/customers/ada":   {"name": `"Ada"`, "email": `"a@b"`},
		"PATCH /v1/customers/ada": {"name": `"Ada"`, "email": `"a@b"`},
	}
	var values []string
	scalars := []string{"null", "true", "0", "-1", "-0", "1.0", "1e2", "1.00000000000000000001", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "1e400", "-1e-400", `""`, `" "`, `"1"`, `"1e400"`, `"NaN"`, `"Infinity"`, `"\u0000"`, `"\ud800"`, `"\ud83d\ude00"`,
		`"'; DROP TABLE payments; --"`, `"\\x00"`, `"$1"`, `"` + strings.Repeat("ż", 100_000) + `"`, `"a\nb\u001b@c"`, "{}", "[]", "[[]]", `{"a": {}}`}
	values = append(values, scalars...)
	for _, v := range scalars {
		values = append(values, `[{"sku": "S", "qty": 1, "price": `+v+`}]`, `[{"sku": "S", "qty": `+v+`, "price": 1}]`,
			`[{"sku": `+v+`, "qty": 1, "price": 1}]`, `[`+v+`]`)
	}
	for at, members := range valid {
		method, path, _ := strings.Cut(at, " ")
		for member := range members {
			for i, value := range values {
				if i >= len(scalars) && member != "items" {
					break
				}
				r := request{method: method, path: path, key: newKey(), body: bodyWith(members, member, value)}
				checkNo500(t, c.send(t, r), r)
			}
		}
	}
	for _, id := range []string{"%00", "%ff", "%C3%28", "%F0%9F%98%80", "%0a", "a%2Fb", "..%2F..", "'%20OR%201=1", strings.Repeat("9", 500),
		"-1", "+1", "1.0", "0x1", "NaN", "%20", "1%20", strings.Repeat("x", 100_000)} {
		for _, r := range []request{
			{method: "GET", path: "/v1/payments/" + id},
			{method: "POST", path: "/v1/payments/" + id + "/capture"},
			{method: "PUT", path: "/v1/customers/" + id, body: `{"name": "x"}`},
			{method: "PATCH", path: "/v1/customers/" + id, body: `{"name": "x"}`},
			{method: "DELETE", path: "/v1/customers/" + id},
			{method: "GET", path: "/v1/payments?after=" + id},
			{method: "GET", path: "/v1/payments?" + id},
		} {
			checkNo500(t, c.send(t, r.with(newKey())), r)
		}
	}
	c.get(t, "/v1/payments").must(t, 200) // the tables are still there
}

func bodyWith(members map[string]string, changed, value string) string {
	var pairs []string
	for name, valid := range members {
		if name == changed {
			valid = value
		}
		pairs = append(pairs, fmt.Sprintf("%q: %s", name, valid))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func checkNo500(t *testing.T, a answer, r request) {
	t.Helper()
	short := r.body[:min(len(r.body), 200)]
	if a.status < 200 || a.status >= 500 {
		t.Errorf("%s %.200s %s: %d %s", r.method, r.path, short, a.status, a.body)
	}
	if a.status >= 400 && a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %.200s %s: %d of type %q", r.method, r.path, short, a.status, a.header.Get("Content-Type"))
	}
	for _, leak := range []string{"SQLSTATE", "pgconn", "ERROR:", "DETAIL", "syntax for type"} {
		if strings.Contains(a.body, leak) {
			t.Errorf("%s %.200s %s: the answer shows %s: %s", r.method, r.path, short, leak, a.body)
		}
	}
}

// Keys as they come in the header, of which some can't be sent by net/http.
func TestCase_key_1(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	handler, _, err := newHandler(t.Context(), s.pool, nil, s.client, oldSecret)
	if err != nil {
		t.Fatal(err)
	}
	send := func(lines ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/accounts", strings.NewReader(`{"owner": "Ada", "currency": "EUR"}`))
		r.Header.Set("Authorization", "Bearer "+c.apiKey)
		r.Header.Set("Content-Type", "application/json")
		r.Header["Idempotency-Key"] = lines
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	for name, lines := range map[string][]string{
		"empty": {""}, "blank": {"  "}, "quoted empty": {`""`}, "256 characters": {strings.Repeat("k", 256)},
		"256 characters, quoted": {`"` + strings.Repeat("k", 256) + `"`}, "a megabyte": {strings.Repeat("k", 1<<20)},
		"comma": {"a,b"}, "a list": {`"a", "b"`}, "quote inside": {`a"b`}, "backslash": {`a\b`},
		"no end": {`"abc`}, "no beginning": {`abc"`}, "only a quote": {`"`}, "bad escape": {`"a\b"`}, "after the end": {`"a"b`},
		"space": {"a b"}, "space, quoted": {`"a b"`}, "tab": {"a\tb"}, "newline": {"a\nb"}, "zero byte": {"a\x00b"}, "delete": {"a\x7fb"},
		"UTF-8": {"clé"}, "UTF-8, quoted": {`"clé"`}, "bytes": {"\xff\xfe"}, "two lines": {"a", "b"}, "two equal lines": {"a", "a"},
		"two lines, one empty": {"a", ""}, "bad parameter": {"a;="}, "parameter in upper case": {"a;B=1"},
	} {
		w := send(lines...)
		problem := answer{w.Code, w.Header(), w.Body.String()}.refused(t, 400, "key-invalid")
		if problem["idempotency_key"] != nil || w.Header().Get("Idempotency-Key") != "" {
			t.Errorf("%s: the key is echoed", name)
		}
	}
	if n := keys(t, s.pool); n != 0 {
		t.Errorf("%d records of keys that are none", n)
	}
	w := send()
	answer{w.Code, w.Header(), w.Body.String()}.refused(t, 400, "key-missing")

	for name, forms := range map[string][]string{
		"bare and quoted":   {"a-key", `"a-key"`, " a-key ", "a-key;v=1", `"a-key"; v="x,y"`},
		"one character":     {"!", `"!"`},
		"255 characters":    {strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`},
		"only quoted":       {`"a,b"`, `"a,b";p`},
		"escapes":           {`"a\"b\\c"`},
		"all of visible":    {"!#$%&'()*+-./0123456789:<=>?@AZ[]^_`az{|}~"},
		"not the same case": {"A-Key"},
	} {
		var first string
		for i, form := range forms {
			w := send(form)
			if w.Code != 201 || w.Header().Get(replayedHeader) != fmt.Sprint(i > 0) {
				t.Errorf("%s: %q: %d, replayed %s: %s", name, form, w.Code, w.Header().Get(replayedHeader), w.Body)
			}
			if i == 0 {
				first = w.Body.String()
			}
			if w.Body.String() != first {
				t.Errorf("%s: %q is another key", name, form)
			}
			echoed := w.Header().Get("Idempotency-Key")
			if again := send(echoed); again.Body.String() != first || !strings.HasPrefix(echoed, `"`) {
				t.Errorf("%s: the echoed key %s is another one", name, echoed)
			}
		}
	}
}

// Without an API key nothing is done, and nothing is said.
func TestNoAPIKey(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	ops := operations(t, c)
	before, records := state(t, s.pool), keys(t, s.pool)
	for _, wrong := range []http.Header{
		{"Authorization": nil}, {"Authorization": {"Bearer "}}, {"Authorization": {"Bearer nobody"}},
		{"Authorization": {"Basic " + c.apiKey}}, {"Authorization": {c.apiKey}}, {"Authorization": {"Bearer " + c.apiKey + "x"}},
	} {
		for _, op := range ops {
			r := op.first.with("k")
			r.header = wrong
			got := c.send(t, r)
			if got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %q: %d %s", op.name, wrong["Authorization"], got.status, got.body)
			}
		}
	}
	if state(t, s.pool) != before || keys(t, s.pool) != records {
		t.Error("something was done")
	}
	execute(t, s.pool, "DELETE FROM api_keys")
	if got := c.send(t, ops[0].first.with("k")); got.status != 401 {
		t.Errorf("with a revoked key: %d", got.status)
	}
	if _, err := db.New(s.pool).TenantOfKey(t.Context(), digest(c.apiKey)); err == nil {
		t.Error("the key is still there")
	}
}
