package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
	"example.com/payments/internal/gateway"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("AGENT_SECRET", "a secret of the tests") // one for all services
	idemtest.Main(m)
}

// emptyDatabase undoes what idemtest's template has: the service brings the
// runtime's tables itself, among its migrations.
const emptyDatabase = "DROP SCHEMA idem CASCADE"

// newDatabase is a database as the service's own migrations make it.
func newDatabase(t testing.TB) string {
	t.Helper()
	url := idemtest.URL(t, emptyDatabase)
	if err := migrate(context.Background(), url); err != nil {
		t.Fatal(err)
	}
	return url
}

// service is the service as main runs it, with a pool of its own: two of them
// on one database are what two processes are.
type service struct {
	pool  *pgxpool.Pool
	api   *api.Service
	url   string
	http  *http.Client
	cards *gateway.Fake
	// client calls cards.
	client *gateway.Client
}

func newService(t testing.TB) *service {
	t.Helper()
	return open(t, idemtest.Open(t, newDatabase(t), nil))
}

// twoServices share nothing but the database, and have a card gateway each.
func twoServices(t testing.TB) [2]*service {
	t.Helper()
	url := newDatabase(t)
	return [2]*service{open(t, idemtest.Open(t, url, nil)), open(t, idemtest.Open(t, url, nil))}
}

// open starts one service over a pool.
func open(t testing.TB, pool *pgxpool.Pool) *service {
	t.Helper()
	cards := &gateway.Fake{}
	other := httptest.NewServer(cards)
	t.Cleanup(other.Close)
	return openWith(t, pool, cards, other.URL)
}

// openWith starts one service that calls a gateway which is there already.
func openWith(t testing.TB, pool *pgxpool.Pool, cards *gateway.Fake, at string) *service {
	t.Helper()
	client := &gateway.Client{URL: at, HTTP: httpClient(t)}
	handler, svc, err := newHandler(context.Background(), pool, slog.New(slog.NewTextHandler(t.Output(), nil)), client, oldSecret, newSecret)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &service{pool: pool, api: svc, url: server.URL, http: server.Client(), cards: cards, client: client}
}

// client is somebody with an API key.
type client struct {
	*service
	tenant string
	apiKey string
}

// as makes an API key of a tenant.
func (s *service) as(t testing.TB, tenant string) *client {
	t.Helper()
	key, err := newAPIKey(context.Background(), db.New(s.pool), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return &client{s, tenant, key}
}

// via is the same client at another service.
func (c *client) via(s *service) *client { return &client{s, c.tenant, c.apiKey} }

func (c *client) caller() api.Caller { return api.Caller{TenantID: c.tenant} }

// request is one HTTP request; the zero value of a field leaves it out.
type request struct {
	method, path, key, body string
	header                  http.Header // added to the usual ones
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request. It may be called beside the test's goroutine: a failure
// is reported, and is an answer of status 0.
func (c *client) send(t testing.TB, r request) answer {
	t.Helper()
	got, err := c.try(t.Context(), r)
	if err != nil {
		t.Error(err)
	}
	return got
}

// try sends a request to a service that may be gone.
func (c *client) try(ctx context.Context, r request) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	if c.apiKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.apiKey)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	maps.Copy(req.Header, r.header)
	return do(c.http, req)
}

func do(h *http.Client, req *http.Request) (answer, error) {
	res, err := h.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was read, or it failed
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(body)}, err
}

func (c *client) post(t testing.TB, path, key, body string) answer {
	t.Helper()
	return c.send(t, request{method: "POST", path: path, key: key, body: body})
}

func (c *client) get(t testing.TB, path string) answer {
	t.Helper()
	return c.send(t, request{method: "GET", path: path})
}

// must gives the members of an answer of the wanted status.
func (a answer) must(t testing.TB, status int) map[string]any {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if a.body == "" {
		return nil
	}
	return a.members(t)
}

// members keeps numbers as they were written.
func (a answer) members(t testing.TB) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	return members
}

// refused checks that an answer is a whole problem (RFC 9457) with this status
// and code, and gives its members.
func (a answer) refused(t testing.TB, status int, code string) map[string]any {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d %s: %s", a.status, status, code, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type %q: %s", got, a.body)
	}
	members := a.members(t)
	if members["code"] != code || members["type"] != "urn:idemgen:problem:"+code {
		t.Fatalf("code %v, type %v, want %s: %s", members["code"], members["type"], code, a.body)
	}
	if members["status"] != json.Number(fmt.Sprint(status)) || members["title"] == "" {
		t.Errorf("status %v, title %v in the body", members["status"], members["title"])
	}
	if instance, _ := members["instance"].(string); !strings.HasPrefix(instance, "urn:uuid:") {
		t.Errorf("instance %v", members["instance"])
	}
	retry := fmt.Sprint(members["retryable"])
	if status < 500 && a.header.Get("X-Should-Retry") != retry {
		t.Errorf("retryable %s, but X-Should-Retry is %q", retry, a.header.Get("X-Should-Retry"))
	}
	return members
}

// pointers are the fields that a problem names.
func pointers(problem map[string]any) []string {
	var found []string
	list, _ := problem["errors"].([]any)
	for _, entry := range list {
		found = append(found, entry.(map[string]any)["pointer"].(string))
	}
	return found
}

const replayedHeader = "Idempotent-Replayed"

func (a answer) replayed() bool { return a.header.Get(replayedHeader) == "true" }

// sameAs checks that an answer has the bytes of the first one: status, body and
// headers. Only the date, and whether it is a replay, may differ.
func (a answer) sameAs(t testing.TB, first answer) {
	t.Helper()
	if a.status != first.status || a.body != first.body {
		t.Errorf("%d %s\nthe first answer: %d %s", a.status, a.body, first.status, first.body)
	}
	got, want := a.comparable(), first.comparable()
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("headers %v\nof the first answer: %v", got, want)
	}
}

func (a answer) comparable() http.Header {
	header := a.header.Clone()
	header.Del("Date")
	header.Del(replayedHeader)
	return header
}

// replays checks that an answer is a replay of the first one.
func (a answer) replays(t testing.TB, first answer) {
	t.Helper()
	a.sameAs(t, first)
	if !a.replayed() {
		t.Errorf("%d %s is not marked as a replay", a.status, a.body)
	}
}

// together sends requests at once, each by a goroutine of its own.
func together(n int, send func(i int) answer) []answer {
	answers := make([]answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = send(i) })
	}
	wg.Wait()
	return answers
}

// query is one value from the database.
func query[T any](t testing.TB, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var value T
	if err := pool.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%v: %s", err, sql)
	}
	return value
}

func execute(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%v: %s", err, sql)
	}
}

// state is everything that the business tables hold.
func state(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"accounts", "payments", "transfers", "orders", "order_lines", "customers", "refunds", "rides", "payouts"} {
		all.WriteString(query[string](t, pool, "SELECT coalesce(string_agg('"+table+"' || x::text, E'\\n' ORDER BY x::text), '') FROM "+table+" x"))
	}
	return all.String()
}

// keys is the number of records.
func keys(t testing.TB, pool *pgxpool.Pool) int {
	t.Helper()
	return query[int](t, pool, "SELECT count(*) FROM idem.keys")
}

// expire lets all keys expire now.
func expire(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	execute(t, pool, "UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 second'")
}

// awaitBlocked returns when n backends of the pool's database wait for a lock.
func awaitBlocked(t testing.TB, pool *pgxpool.Pool, n int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for query[int](t, pool, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") < n {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests do not wait for a lock", n)
		}
	}
}

// Resources that a test needs to be there.

func (c *client) account(t testing.TB, balance int) string {
	t.Helper()
	body := fmt.Sprintf(`{"owner": "Ada", "currency": "EUR", "balance": %d}`, balance)
	return fmt.Sprint(c.post(t, "/v1/accounts", newKey(), body).must(t, 201)["id"])
}

func (c *client) payment(t testing.TB, order string) string {
	t.Helper()
	return fmt.Sprint(c.post(t, "/v1/payments", newKey(), paymentBody(order)).must(t, 201)["id"])
}

// captured is a payment of 1250 that can be refunded.
func (c *client) captured(t testing.TB, order string) string {
	t.Helper()
	id := c.payment(t, order)
	c.post(t, "/v1/payments/"+id+"/capture", newKey(), "").must(t, 200)
	return id
}

func (c *client) customer(t testing.TB, id string) {
	t.Helper()
	c.send(t, request{method: "PUT", path: "/v1/customers/" + id, body: `{"name": "Ada", "email": "ada@example.com"}`}).must(t, 201)
}

func (c *client) balance(t testing.TB, account string) int {
	t.Helper()
	return query[int](t, c.pool, "SELECT balance FROM accounts WHERE id = $1::text::bigint", account)
}

func paymentBody(order string) string {
	return fmt.Sprintf(`{"order_id": %q, "amount": 1250, "currency": "EUR"}`, order)
}

func transferBody(from, to string, amount int) string {
	return fmt.Sprintf(`{"from_account": %s, "to_account": %s, "amount": %d}`, from, to, amount)
}
