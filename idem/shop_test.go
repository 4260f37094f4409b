package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The shop is a service with hand-written operations, in the form that
// docs/strategies.md asks of generated ones.

const shopTables = `
CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text NOT NULL,
  order_id text NOT NULL,
  amount bigint NOT NULL,
  note text,
  status text NOT NULL DEFAULT 'authorized',
  CONSTRAINT payments_amount_check CHECK (amount > 0),
  CONSTRAINT payments_order UNIQUE (tenant_id, order_id)
);
CREATE TABLE accounts (
  id bigint PRIMARY KEY,
  balance bigint NOT NULL,
  CONSTRAINT accounts_balance_check CHECK (balance >= 0)
);
INSERT INTO accounts VALUES (1, 100), (2, 0);
CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, taken boolean NOT NULL DEFAULT false);
`

const paymentRow = `SELECT d.id, d.order_id, d.amount, d.note, d.status`

// fusedSQL makes a keyed section. The write reads the gate from idem_gate;
// empty is the number of the parameter of the @empty problem, 0 if none; its
// headers are the next one. The
// parameters p+1 to p+4 are scope, digest, key and fingerprint.
func fusedSQL(operation, write, row, headers, refuse string, p, empty int, wait string) string {
	gate := "set_config('lock_timeout', '" + wait + "', true) IS NOT NULL"
	if wait == "" {
		gate = fmt.Sprintf("pg_try_advisory_xact_lock($%d::bigint)", p+5)
	}
	body := "(SELECT row_to_json(o)::text FROM (" + row + ") o)"
	status, ttl, onEmpty := "201", "interval '24 hours'", ""
	if empty > 0 {
		status = "CASE WHEN d.hit IS NULL THEN 409 ELSE 201 END"
		ttl = "CASE WHEN a.hit IS NULL THEN interval '2 hours' ELSE interval '24 hours' END"
		onEmpty = fmt.Sprintf("WHEN d.hit IS NULL THEN $%d::text ", empty)
		headers = fmt.Sprintf("CASE WHEN d.hit IS NULL THEN $%d::jsonb ELSE ", empty+1) + headers + " END"
	}
	from := "(SELECT true AS hit, x.* FROM idem_done x LIMIT 1) d"
	if empty > 0 {
		from = "idem_gate LEFT JOIN " + from + " ON true WHERE idem_gate.open"
	}
	return strings.NewReplacer("$SCOPE", fmt.Sprint("$", p+1), "$DIGEST", fmt.Sprint("$", p+2), "$KEY", fmt.Sprint("$", p+3),
		"$PRINT", fmt.Sprint("$", p+4), "{gate}", gate, "{write}", write, "{status}", status, "{headers}", headers,
		"{body}", "CASE "+onEmpty+refuse+" WHEN true THEN "+body+" END", "{from}", from, "{op}", operation, "{ttl}", ttl).Replace(`
-- statement: keyed
WITH idem_prior AS MATERIALIZED (
  SELECT k.status, k.headers, k.body, k.fingerprint, k.expires_at <= clock_timestamp() AS stale
  FROM idem.keys k WHERE k.scope = $SCOPE AND k.digest = $DIGEST
), idem_gate AS MATERIALIZED (
  SELECT CASE WHEN NOT EXISTS (SELECT FROM idem_prior) THEN {gate} ELSE false END AS open
), idem_done AS (
  {write}
), idem_answer AS MATERIALIZED (
  SELECT ({status})::smallint AS status, {headers} AS headers, {body} AS body, d.hit AS hit FROM {from}
), idem_recorded AS (
  INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $SCOPE, $DIGEST, '{op}', $KEY, $PRINT, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END, clock_timestamp() + {ttl}
  FROM idem_answer a
)
SELECT false AS replayed, a.status, a.headers::text, a.body, NULL::bytea AS fingerprint FROM idem_answer a
UNION ALL
SELECT CASE WHEN NOT p.stale THEN true END, p.status, p.headers::text, p.body, p.fingerprint FROM idem_prior p;
`)
}

const unkeyedPayment = `
-- statement: unkeyed
WITH idem_done AS (
  INSERT INTO payments (tenant_id, order_id, amount, note) VALUES ($1, $2, $3, $4) RETURNING *
)
SELECT false, 201::smallint, NULL::text, (SELECT row_to_json(o)::text FROM (` + paymentRow + `) o), NULL::bytea FROM idem_done d;
`

const existingPayment = `
-- statement: existing
SELECT (SELECT row_to_json(o)::text FROM (` + paymentRow + `) o), NULL::text, d.amount = $3::bigint
FROM payments d WHERE tenant_id = $1 AND order_id = $2;
`

const insertPayment = `INSERT INTO payments (tenant_id, order_id, amount, note)
  SELECT $1, $2, $3, $4 WHERE (SELECT open FROM idem_gate) RETURNING *`

var keyArgs = []Arg{{From: ArgScope}, {From: ArgDigest}, {From: ArgKey}, {From: ArgFingerprint}}

var emptyArgs = []Arg{{From: ArgEmpty}, {From: ArgEmptyHeaders}}

func fieldArgs(indexes ...int) []Arg {
	args := make([]Arg, len(indexes))
	for i, at := range indexes {
		args[i] = Arg{From: ArgField, Field: at}
	}
	return args
}

var paymentFields = []Field{
	{From: FromBody, Name: "order_id", Kind: KindText, Required: true},
	{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
	{From: FromBody, Name: "note", Kind: KindText, Nullable: true},
	{From: FromCaller, Name: "tenant_id", Kind: KindText, Required: true, Scope: true},
}

// The operations of the shop wait for a twin this long, in the policy and in SQL:
// long enough for a starved machine, where none of the tests means to reach it.
const (
	patience     = "10s"
	patienceTime = 10 * time.Second
)

func shopPolicy(wait time.Duration) Policy {
	return Policy{Success: 24 * time.Hour, ClientError: 2 * time.Hour, Wait: wait, Timeout: 30 * time.Second, MaxBody: 1 << 20}
}

// createPayment is fused; key optional where required is false.
func createPayment(name Name, wait string, required bool) *Operation {
	op := &Operation{
		Name: name, Method: http.MethodPost, Path: "/v1/payments", Status: 201, Strategy: Fused,
		Key: Key{From: KeyHeader, Required: required}, Policy: shopPolicy(0), Fields: paymentFields,
		SQL: fusedSQL("shop."+string(name), insertPayment, paymentRow,
			"jsonb_build_object('Location', '/v1/payments/' || d.id)", "", 4, 0, wait) + unkeyedPayment + existingPayment,
		Steps: []Step{{
			Name: "InsertPayment", Args: append(fieldArgs(3, 0, 1, 2), keyArgs...), Unkeyed: fieldArgs(3, 0, 1, 2),
			Errors: []ErrorRule{{Constraint: "payments_amount_check", Problem: Problem{422, "amount_not_positive", "amount must be positive"}}},
			Intent: &Intent{Constraint: "payments_order", Table: "public.payments", Existing: "existing", Args: fieldArgs(3, 0, 1)},
			Writes: []string{"public.payments"}, Insert: true,
		}},
	}
	if wait == "" {
		op.Steps[0].Args = append(op.Steps[0].Args, Arg{From: ArgLock})
		return op
	}
	op.Policy.Wait, _ = time.ParseDuration(wait)
	return op
}

// charge is a guarded fused UPDATE with @empty and @require.
func charge() *Operation {
	write := `UPDATE accounts SET balance = balance - $2 WHERE (id = $1 AND balance >= $2) AND (SELECT open FROM idem_gate)
    RETURNING id, balance, $2 < 90 AS small`
	return &Operation{
		Name: "Charge", Method: http.MethodPost, Path: "/v1/accounts/{id}/charge", Status: 201, Strategy: Fused,
		Key: Key{From: KeyHeader, Required: true}, Policy: shopPolicy(patienceTime),
		Fields: []Field{
			{From: FromPath, Name: "id", Kind: KindInt8, Required: true},
			{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
		},
		SQL: fusedSQL("shop.Charge", write, "SELECT d.id, d.balance", "NULL::jsonb",
			"WHEN d.small IS NOT TRUE THEN idem.refuse('small')", 2, 7, patience),
		Steps: []Step{{
			Name: "Charge", Args: append(append(fieldArgs(0, 1), keyArgs...), emptyArgs...),
			Empty:    Empty{Problem: &Problem{409, "insufficient_funds", "not enough money"}},
			Requires: []Problem{{409, "too_large", "charge in smaller parts"}}, RequireNames: []string{"small"},
			Writes: []string{"public.accounts"},
		}},
	}
}

// takeJob is verbatim: its statement skips locked rows.
func takeJob() *Operation {
	sql := `
-- statement: prior
SELECT true, k.status, k.headers::text, k.body, k.fingerprint FROM idem.keys k
WHERE k.scope = $1 AND k.digest = $2 AND k.expires_at > clock_timestamp();
-- statement: claim
WITH idem_lim AS MATERIALIZED (SELECT set_config('lock_timeout', '` + patience + `', true) AS v), idem_gone AS (
  DELETE FROM idem.keys k WHERE k.scope = $1 AND k.digest = $2 AND k.expires_at <= clock_timestamp()
    AND (SELECT v FROM idem_lim) IS NOT NULL RETURNING 1)
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT $1, $2, 'shop.TakeJob', $3, $4, 0, clock_timestamp() + interval '24 hours'
WHERE (SELECT count(*) FROM idem_gone) >= 0 AND (SELECT v FROM idem_lim) IS NOT NULL;
-- statement: keyed
WITH idem_done AS (
  UPDATE jobs SET taken = true WHERE id = (
    SELECT id FROM jobs WHERE NOT taken ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id
), idem_answer AS MATERIALIZED (
  SELECT (CASE WHEN d.hit IS NULL THEN 404 ELSE 200 END)::smallint AS status,
    CASE WHEN d.hit IS NULL THEN $4::jsonb END AS headers,
    CASE WHEN d.hit IS NULL THEN $3::text ELSE json_build_object('id', d.id)::text END AS body
  FROM (SELECT 1) o LEFT JOIN (SELECT true AS hit, x.* FROM idem_done x LIMIT 1) d ON true
), idem_recorded AS (
  UPDATE idem.keys k SET status = a.status, headers = a.headers, body = CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END
  FROM idem_answer a WHERE k.scope = $1 AND k.digest = $2
)
SELECT false, a.status, a.headers::text, a.body, NULL::bytea FROM idem_answer a;
`
	return &Operation{
		Name: "TakeJob", Method: http.MethodPost, Path: "/v1/jobs", Status: 200, Strategy: Verbatim,
		Key: Key{From: KeyHeader, Required: true}, Policy: shopPolicy(patienceTime), SQL: sql,
		Steps: []Step{{
			Name: "TakeJob", Prior: keyArgs[:2], Claim: keyArgs, Args: append(keyArgs[:2:2], emptyArgs...),
			Empty: Empty{Problem: &Problem{404, "no_job", "no job is free"}}, Writes: []string{"public.jobs"},
		}},
	}
}

// transfer is stepped: lock, move, read.
func transfer(name Name, isolation Isolation) *Operation {
	sql := `
-- statement: step.Lock
WITH idem_step AS (SELECT id, balance FROM accounts WHERE id IN ($1, $2) ORDER BY id FOR UPDATE)
SELECT count(*) = 2, count(*) FILTER (WHERE id = $1 AND balance >= $3) = 1, max(id)::text FROM idem_step;
-- statement: step.Move
UPDATE accounts SET balance = balance + CASE WHEN id = $1 THEN -$3::bigint ELSE $3::bigint END WHERE id IN ($1, $2);
-- statement: step.Read
WITH idem_step AS (SELECT id, balance FROM accounts WHERE id = $1)
SELECT (SELECT row_to_json(o)::text FROM (SELECT s.id, s.balance) o),
  jsonb_build_object('Location', '/v1/accounts/' || s.id)::text FROM idem_step s;
`
	policy := shopPolicy(patienceTime)
	policy.Isolation = isolation
	return &Operation{
		Name: name, Method: http.MethodPost, Path: "/v1/transfers", Status: 201, Strategy: Stepped,
		Key: Key{From: KeyHeader, Required: true}, Policy: policy, SQL: sql,
		Fields: []Field{
			{From: FromBody, Name: "from", Kind: KindInt8, Required: true},
			{From: FromBody, Name: "to", Kind: KindInt8, Required: true},
			{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
		},
		Steps: []Step{
			{Name: "Lock", Section: "step.Lock", Args: fieldArgs(0, 1, 2), Results: Results{Requires: 2, Text: 1},
				Requires: []Problem{{404, "no_such_account", ""}, {402, "insufficient_funds", ""}}},
			{Name: "Move", Section: "step.Move", Args: fieldArgs(0, 1, 2), Exec: true, Writes: []string{"public.accounts"}},
			{Name: "Read", Section: "step.Read", Args: []Arg{{From: ArgStep, Step: 0, Column: 0}},
				Results: Results{Row: true, Headers: true}},
		},
		Answer: Answer{Kind: "object", Members: []Member{{Name: "to", Value: Answer{Kind: "step", Step: 2}}}},
	}
}

// getPayment is direct.
func getPayment() *Operation {
	return &Operation{
		Name: "GetPayment", Method: http.MethodGet, Path: "/v1/payments/{id}", Status: 200, Strategy: Direct,
		Policy: shopPolicy(0), Fields: []Field{{From: FromPath, Name: "id", Kind: KindInt8, Required: true}},
		SQL: `
-- statement: unkeyed
SELECT false, (CASE WHEN d.id IS NULL THEN 404 ELSE 200 END)::smallint,
  CASE WHEN d.id IS NULL THEN $3::jsonb::text END,
  CASE WHEN d.id IS NULL THEN $2::text ELSE (SELECT row_to_json(o)::text FROM (` + paymentRow + `) o) END, NULL::bytea
FROM (SELECT 1) o LEFT JOIN payments d ON d.id = $1`,
		Steps: []Step{{
			Name: "GetPayment", Unkeyed: append(fieldArgs(0), emptyArgs...),
			Empty: Empty{Problem: &Problem{404, "not_found", "no such payment"}},
		}},
	}
}

type shop struct {
	*Service
	pool *pgxpool.Pool
	mux  *http.ServeMux
}

func shopConfig(ops ...*Operation) Config {
	return Config{
		Service: "shop", Profile: ProfileIETF, Operations: ops,
		Caller: []Field{{Name: "tenant_id", Kind: KindText, Required: true}},
	}
}

func shopCaller(r *http.Request) ([]any, error) {
	tenant := r.Header.Get("X-Tenant")
	if tenant == "nobody" {
		return nil, errors.New("who is this")
	}
	if tenant == "" {
		tenant = "t1"
	}
	return []any{tenant}, nil
}

// openShop serves operations, each at METHOD /NAME/{id}.
func openShop(t testing.TB, pool *pgxpool.Pool, ops ...*Operation) *shop {
	t.Helper()
	service, err := New(pool, shopConfig(ops...), shopCaller, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s
}

func newShop(t testing.TB, ops ...*Operation) *shop {
	t.Helper()
	return openShop(t, idemtest.Pool(t, shopTables), ops...)
}

// call is a request: header pairs follow the body.
func (s *shop) call(name Name, method, id, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/"+string(name)+"/"+id, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r)
	return w
}

func (s *shop) post(name Name, key, body string, headers ...string) *httptest.ResponseRecorder {
	if key != "" {
		headers = append(headers, keyHeader, `"`+key+`"`)
	}
	return s.call(name, http.MethodPost, "1", body, headers...)
}

// count is the number that a query gives.
func (s *shop) count(t testing.TB, sql string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := s.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *shop) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := s.pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func wantStatus(t testing.TB, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
}

func wantCode(t testing.TB, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	wantStatus(t, w, status)
	if !strings.Contains(w.Body.String(), `"code":"`+code+`"`) {
		t.Fatalf("code %s is not in %s", code, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != problemType {
		t.Errorf("Content-Type %q", got)
	}
}

const order1 = `{"order_id": "o1", "amount": 5}`
