package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/errors"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// readDocument reads an OpenAPI document and builds its validator. Strict: what
// an answer has beyond the document is an error too.
func readDocument(t testing.TB, text []byte) (*v3.Document, validator.Validator) {
	t.Helper()
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(document, config.WithFormatAssertions(), config.WithStrictMode(), config.WithStrictIgnoredHeadersExtra("Vary", "Www-Authenticate"))
	if errs != nil {
		t.Fatal(errs)
	}
	return &model.Model, v
}

func report(t testing.TB, what string, found []*errors.ValidationError) {
	t.Helper()
	for _, e := range found {
		text := e.Message + ": " + e.Reason
		for _, s := range e.SchemaValidationErrors {
			text += "\n  " + s.KeywordLocation + ": " + s.Reason
		}
		t.Errorf("%s: %s", what, text)
	}
}

// The document of this service, and those of the generator's own tests, are
// OpenAPI 3.1.
func TestOpenAPIDocumentsAreValid(t *testing.T) {
	paths, err := filepath.Glob("../generator/openapi/testdata/*.yaml")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%v (%v)", paths, err)
	}
	for _, path := range append(paths, "openapi.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, v := readDocument(t, text)
		_, found := v.ValidateDocument()
		report(t, path, found)
	}
}

// watcher holds every exchange of a client to the document.
type watcher struct {
	t        testing.TB
	base     http.RoundTripper
	document validator.Validator
	valid    bool // requests have to be valid, too

	mu   sync.Mutex
	seen map[string]bool // "POST /v1/payments 201"
}

func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	again := func() *http.Request {
		c := r.Clone(r.Context())
		c.Body = io.NopCloser(bytes.NewReader(sent))
		if len(sent) == 0 {
			c.Body = http.NoBody
		}
		return c
	}
	if w.valid {
		_, found := w.document.ValidateHttpRequest(again())
		report(w.t, r.Method+" "+r.URL.Path+", the request", found)
	}
	res, err := w.base.RoundTrip(again())
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	copied := *res
	copied.Body = io.NopCloser(bytes.NewReader(body))
	_, found := w.document.ValidateHttpResponse(again(), &copied)
	report(w.t, fmt.Sprintf("%s %s %d %s, the answer", r.Method, r.URL.Path, res.StatusCode, body), found)
	res.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, res.StatusCode)] = true
	return res, nil
}

// documented are the routes and statuses of a document, "POST /v1/payments 201",
// without those that need a broken service or another request at the right moment:
// 5xx, a 409 that is only the runtime's own, and what the plan allows for although
// the statements always give a row.
func documented(document *v3.Document) []string {
	var out []string
	for path, item := range document.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			for status, response := range op.Responses.Codes.FromOldest() {
				own := response.GoLow() != nil && response.GoLow().IsReference()
				if !strings.HasPrefix(status, "5") && (!own || status != "409") && !alwaysRows[op.OperationId+" "+status] {
					out = append(out, strings.ToUpper(method)+" "+path+" "+status)
				}
			}
		}
	}
	return out
}

var alwaysRows = map[string]bool{"PutCustomer 404": true, "PlaceOrder 409": true, "CreateTransfer 409": true}

// reached reports whether traffic had a documented route and status.
func reached(seen map[string]bool, route string) bool {
	want := strings.Split(strings.ReplaceAll(route, " ", "/"), "/")
	for got := range seen {
		have := strings.Split(strings.ReplaceAll(got, " ", "/"), "/")
		same := len(have) == len(want)
		for i := range want {
			same = same && (have[i] == want[i] || strings.HasPrefix(want[i], "{"))
		}
		if same {
			return true
		}
	}
	return false
}

// watched is a client whose every exchange is held to the service's document.
func watched(t *testing.T, c *client, valid bool) (*client, *watcher) {
	t.Helper()
	_, v := readDocument(t, openapiDocument)
	w := &watcher{t: t, base: c.http.Transport, document: v, valid: valid, seen: map[string]bool{}}
	own := *c.service
	own.http = &http.Client{Transport: w}
	return &client{&own, c.tenant, c.apiKey}, w
}

// Every operation, its successes and all classes of its problems are as the
// document says, in status, headers and body. A route and status that no request
// here brings about is an error: a document that promises too much.
func TestLiveTrafficIsAsDocumented(t *testing.T) {
	s := newService(t)
	plain := s.as(t, "acme")
	c, good := watched(t, plain, true)
	for _, op := range operations(t, c) {
		key := newKey()
		first := c.send(t, op.first.with(key))
		if first.status != op.status {
			t.Errorf("%s: %d %s", op.name, first.status, first.body)
		}
		c.send(t, op.first.with(key)).replays(t, first)
		c.send(t, op.other.with(key)).refused(t, 422, "key-reused")
	}
	refusals(t, c)
	background(t, c)

	bad, wrong := watched(t, plain, false)
	misuse(t, bad)
	seen := good.seen
	for route := range wrong.seen {
		seen[route] = true
	}
	document, _ := readDocument(t, openapiDocument)
	for _, route := range documented(document) {
		if !reached(seen, route) {
			t.Errorf("no request was answered so: %s", route)
		}
	}
}

// refusals are valid requests that are refused for what the database says.
func refusals(t *testing.T, c *client) {
	t.Helper()
	account, other := c.account(t, 10), c.account(t, 0)
	c.get(t, "/v1/accounts/"+account).must(t, 200)
	c.get(t, "/v1/accounts/999999").refused(t, 404, "no_such_account")
	id := c.payment(t, "refused")
	c.get(t, "/v1/payments/"+id).must(t, 200)
	c.get(t, "/v1/payments/999999").refused(t, 404, "no_such_payment")
	c.get(t, "/v1/payments?after=0&limit=2").must(t, 200)
	c.post(t, "/v1/payments", newKey(), paymentBody("refused")).refused(t, 409, "intent-conflict")
	c.post(t, "/v1/payments/"+id+"/refunds", newKey(), `{"amount": 1}`).refused(t, 409, "not_captured")
	c.post(t, "/v1/payments/999999/refunds", newKey(), `{"amount": 1}`).refused(t, 404, "no_such_payment")
	c.post(t, "/v1/payments/"+id+"/capture", newKey(), "").must(t, 200)
	c.post(t, "/v1/payments/"+id+"/capture", newKey(), "").refused(t, 409, "not_authorized")
	c.post(t, "/v1/payments/"+id+"/refunds", newKey(), `{"amount": 999999}`).refused(t, 422, "more_than_left")
	c.post(t, "/v1/transfers", newKey(), transferBody(account, other, 11)).refused(t, 402, "insufficient_funds")
	c.post(t, "/v1/transfers", newKey(), transferBody(account, account, 1)).refused(t, 422, "same_account")
	c.post(t, "/v1/transfers", newKey(), transferBody(account, "999999", 1)).refused(t, 404, "no_such_account")
	c.customer(t, "documented")
	c.send(t, request{method: "PUT", path: "/v1/customers/documented", body: `{"name": "Ada"}`}).must(t, 200)
	c.send(t, request{method: "PATCH", path: "/v1/customers/nobody", key: newKey(), body: `{"name": "Ada"}`}).refused(t, 404, "not_found")
	c.send(t, request{method: "DELETE", path: "/v1/customers/nobody", key: newKey()}).refused(t, 404, "not_found")
}

// misuse are requests that the document forbids.
func misuse(t *testing.T, c *client) {
	t.Helper()
	nobody := &client{c.service, "", ""}
	document, _ := readDocument(t, openapiDocument)
	for path, item := range document.Paths.PathItems.FromOldest() {
		path = strings.ReplaceAll(path, "{id}", "1")
		for method := range item.GetOperations().FromOldest() {
			r := request{method: strings.ToUpper(method), path: path}
			nobody.send(t, r).refused(t, 401, "unauthenticated")
			if strings.HasSuffix(path, "/{event_id}") {
				continue // takes nothing else
			}
			r.path += "?nonsense=1"
			c.send(t, r).refused(t, 400, "query-unknown")
			if r.path = path; r.method == "GET" || r.method == "DELETE" {
				continue
			}
			r.body = `{"nonsense": 1}`
			c.send(t, r.with("k-"+path)).refused(t, 400, "member-unknown")
			r.header = http.Header{"Content-Type": {"text/plain"}}
			c.send(t, r).refused(t, 415, "media-type")
			r.header, r.body = nil, `"`+strings.Repeat("x", 1<<20)+`"`
			c.send(t, r).refused(t, 413, "body-too-large")
		}
	}
	c.get(t, "/v1/accounts/x").refused(t, 422, "input-invalid")
	c.get(t, "/v1/payments/x").refused(t, 422, "input-invalid")
	c.get(t, "/v1/payments?limit=1000").refused(t, 422, "input-invalid")
	c.post(t, "/v1/payments", "", paymentBody("x")).refused(t, 400, "key-missing")
	c.post(t, "/v1/payments", "a b", paymentBody("x")).refused(t, 400, "key-invalid")
	c.post(t, "/v1/payments", "k", `{"order_id": "x", "amount": 0, "currency": "EUR"}`).refused(t, 422, "amount_not_positive")
}

// The page needs nothing from elsewhere, and everybody may see it.
func TestDocsPageNeedsNoNetwork(t *testing.T) {
	s := newService(t)
	nobody := &client{s, "", ""}
	if got := nobody.get(t, "/openapi.yaml"); got.status != 200 || got.body != string(openapiDocument) {
		t.Errorf("/openapi.yaml: %d", got.status)
	}
	page := nobody.get(t, "/docs")
	if page.status != 200 || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Fatalf("/docs: %d %s", page.status, page.header.Get("Content-Type"))
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("the page may load from elsewhere: %s", policy)
	}
	loaded := 0
	for _, part := range strings.Split(page.body, `"`) {
		if strings.HasSuffix(part, ".js") || strings.HasSuffix(part, ".css") {
			loaded++
			if got := nobody.get(t, "/docs/"+part); got.status != 200 || got.body == "" {
				t.Errorf("/docs/%s: %d", part, got.status)
			}
		}
	}
	if loaded != 3 || strings.Contains(page.body, "://") {
		t.Errorf("%d parts of the page:\n%s", loaded, page.body)
	}
}
