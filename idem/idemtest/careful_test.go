package idemtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// careful is a handler that keeps every promise with SQL of its own, and one
// flag for each way in which handlers break them.
type careful struct {
	pool, side *pgxpool.Pool

	claimOutside     bool // the claim is committed before the business
	recordOutside    bool // the record is a transaction of its own, after the business
	recordFirst      bool // the record is committed before the business
	globalScope      bool
	noFingerprint    bool
	rawFingerprint   bool // the bytes of the body
	keepsErrors      bool // a 500 is recorded
	requestContext   bool // the work ends with the client
	recordsRequestly bool // only the record does
	noWait           bool // a copy of a running request is refused
	noLock           bool // copies of a running request run
	otherBytes       bool // a replay is encoded again
	unmarked         bool // a replay does not say so
	storesCookies    bool
	immortal         bool // expired records are replayed
	extends          bool // a replay is kept for longer
	anyKey           bool // keys are not checked
	keyless          bool // requests without a key run
	noRetry          bool // 40001 is a 500
	lostIsError      bool // a lost connection is a 500
	lostRunsAgain    bool // after a lost commit the business is done again
	twoConnections   bool // a second one is taken while one is held
	trustsCommit     bool // the answer does not wait for the commit
}

const carefulTables = `CREATE TABLE payments (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL, reference text NOT NULL, amount bigint NOT NULL)`

func carefulOperation() Operation {
	return Operation{
		Name: "Pay", Method: "POST", Path: "/v1/payments", Body: `{"amount": 5, "reference": "r"}`,
		Inputs: []Input{
			{Name: "body.amount", Type: Number, Other: "6"},
			{Name: "body.reference", Other: `"other"`, Fresh: true},
		},
		Writes: []string{"public.payments"},
	}
}

type payment struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// work is one request as careful sees it.
type work struct {
	*careful
	request            context.Context
	scope, key, tenant string
	print              []byte
	payment            payment
}

func (c careful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, ok := c.keyOf(r)
	switch {
	case len(r.Header.Values(keyHeader)) == 0 && !c.keyless:
		problem(w, http.StatusBadRequest, "key-missing")
		return
	case !ok && !c.keyless:
		problem(w, http.StatusBadRequest, "key-invalid")
		return
	}
	body, err := io.ReadAll(r.Body)
	job := &work{careful: &c, request: r.Context(), key: key, tenant: r.Header.Get(CallerHeader)}
	if err == nil {
		err = json.Unmarshal(body, &job.payment)
	}
	if err != nil {
		problem(w, http.StatusBadRequest, "body-malformed")
		return
	}
	job.scope = job.tenant
	if c.globalScope {
		job.scope = "everybody"
	}
	canonical, _ := json.Marshal(job.payment)
	if c.rawFingerprint {
		canonical = body
	}
	if c.noFingerprint {
		canonical = nil
	}
	sum := sha256.Sum256(canonical)
	job.print = sum[:]
	job.answer(w)
}

// keyOf is the decoded key.
func (c careful) keyOf(r *http.Request) (string, bool) {
	lines := r.Header.Values(keyHeader)
	if len(lines) == 0 {
		return newKey(), false
	}
	key := lines[0]
	if quoted, ok := strings.CutPrefix(key, `"`); ok {
		value, rest, closed := strings.Cut(quoted, `"`)
		if closed && (rest == "" || rest[0] == ';') {
			key = value
		}
	}
	if c.anyKey {
		return strconv.QuoteToASCII(strings.Join(lines, " ")), true
	}
	bad := strings.ContainsFunc(key, func(c rune) bool { return c < 0x21 || c > 0x7e || strings.ContainsRune(`,"\`, c) })
	return key, len(lines) == 1 && len(key) > 0 && len(key) <= 255 && !bad
}

func problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	if status == http.StatusServiceUnavailable || code == "in-flight" {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status": %d, "code": %q}`, status, code)
}

// outcome is a problem in place of an answer.
type outcome struct {
	status int
	code   string
}

func (o outcome) Error() string { return o.code }

// record is a row of idem.keys.
type record struct {
	status   int
	headers  map[string]string
	body     string
	print    []byte
	replayed bool
}

func (job *work) answer(w http.ResponseWriter) {
	ctx := context.WithoutCancel(job.request)
	if job.requestContext {
		ctx = job.request
	}
	got, err := job.retried(ctx)
	var refused outcome
	switch {
	case errors.As(err, &refused):
		problem(w, refused.status, refused.code)
		return
	case err != nil:
		if job.keepsErrors {
			_ = job.store(ctx, job.pool, record{status: 500, body: "{}"})
		}
		problem(w, http.StatusInternalServerError, "internal")
		return
	}
	for name, value := range got.headers {
		w.Header().Set(name, value)
	}
	if !got.replayed {
		w.Header().Set("Set-Cookie", "session="+job.tenant)
	}
	if !job.unmarked {
		w.Header().Set(replayedHeader, fmt.Sprint(got.replayed))
	}
	w.WriteHeader(got.status)
	if got.replayed && job.otherBytes {
		got.body += " "
	}
	_, _ = io.WriteString(w, got.body)
}

// retried runs attempts until one says what happened.
func (job *work) retried(ctx context.Context) (record, error) {
	for range 5 {
		got, err := job.attempt(ctx)
		var refused outcome
		var pgError *pgconn.PgError
		switch {
		case err == nil || errors.As(err, &refused) || ctx.Err() != nil:
			return got, err
		case errors.As(err, &pgError):
			if pgError.Code != "40001" || job.noRetry {
				return got, err
			}
		case job.lostIsError:
			return got, err
		case job.lostRunsAgain:
			job.key = newKey()
		}
	}
	return record{}, outcome{http.StatusServiceUnavailable, "unavailable"}
}

type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func (job *work) attempt(ctx context.Context) (got record, err error) {
	committing := false
	err = pgx.BeginFunc(ctx, job.pool, func(tx pgx.Tx) error {
		if err := job.lock(ctx, tx); err != nil {
			return err
		}
		found := false
		if got, found, err = job.find(ctx, tx); err != nil || found {
			return err
		}
		if err := job.before(ctx); err != nil {
			return err
		}
		if job.twoConnections {
			defer func() { _, _ = job.pool.Exec(ctx, "SELECT 1") }()
		}
		if got, err = job.pay(ctx, tx); err != nil || job.recordFirst || job.recordOutside || job.recordsRequestly {
			return err
		}
		err = job.store(ctx, tx, got)
		committing = err == nil
		return err
	})
	if err != nil && job.trustsCommit && committing {
		return got, nil
	}
	if err == nil && !got.replayed && (job.recordOutside || job.recordsRequestly) {
		if job.recordsRequestly {
			ctx = job.request
		}
		err = job.store(ctx, job.pool, got)
	}
	return got, err
}

func (job *work) lock(ctx context.Context, tx pgx.Tx) error {
	if job.noLock {
		return nil
	}
	var locked bool
	sql := "SELECT pg_advisory_xact_lock(hashtext($1)) IS NOT NULL"
	if job.noWait {
		sql = "SELECT pg_try_advisory_xact_lock(hashtext($1))"
	}
	err := tx.QueryRow(ctx, sql, job.scope+"/"+job.key).Scan(&locked)
	if err == nil && !locked {
		return outcome{http.StatusConflict, "in-flight"}
	}
	return err
}

// before is what some do ahead of the business.
func (job *work) before(ctx context.Context) error {
	switch {
	case job.claimOutside:
		return job.store(ctx, job.side, record{})
	case job.recordFirst:
		return job.store(ctx, job.side, record{status: 201, body: `{"id": 1}`})
	}
	return nil
}

func (job *work) find(ctx context.Context, tx pgx.Tx) (got record, found bool, err error) {
	sql := "SELECT status, headers, body, fingerprint FROM idem.keys WHERE scope = $1 AND digest = $2"
	if !job.immortal {
		sql += " AND expires_at > clock_timestamp()"
	}
	err = tx.QueryRow(ctx, sql, job.scope, job.digest()).Scan(&got.status, &got.headers, &got.body, &got.print)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return got, false, nil
	case err != nil:
		return got, false, err
	case got.status == 0:
		return got, true, outcome{http.StatusConflict, "in-flight"}
	case string(got.print) != string(job.print):
		return got, true, outcome{http.StatusUnprocessableEntity, "key-reused"}
	}
	if job.extends {
		_, err = tx.Exec(ctx, "UPDATE idem.keys SET expires_at = clock_timestamp() + interval '2 days' WHERE scope = $1 AND digest = $2", job.scope, job.digest())
	}
	got.replayed = true
	return got, true, err
}

func (job *work) digest() []byte {
	sum := sha256.Sum256([]byte(job.key))
	return sum[:16]
}

func (job *work) pay(ctx context.Context, tx pgx.Tx) (record, error) {
	var id int64
	err := tx.QueryRow(ctx, "INSERT INTO payments (tenant, reference, amount) VALUES ($1, $2, $3) RETURNING id",
		job.tenant, job.payment.Reference, job.payment.Amount).Scan(&id)
	got := record{status: 201, body: fmt.Sprintf(`{"id": %d}`, id), headers: map[string]string{
		"Content-Type": "application/json", "Location": fmt.Sprint("/v1/payments/", id),
	}}
	if job.storesCookies {
		got.headers["Set-Cookie"] = "session=" + job.tenant
	}
	return got, err
}

func (job *work) store(ctx context.Context, db executor, got record) error {
	_, err := db.Exec(ctx, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
VALUES ($1, $2, 'Pay', $3, $4, $5, $6, $7, clock_timestamp() + interval '1 day')
ON CONFLICT (scope, digest) DO UPDATE SET status = excluded.status, headers = excluded.headers, body = excluded.body,
  fingerprint = excluded.fingerprint, expires_at = excluded.expires_at`,
		job.scope, job.digest(), job.key, job.print, got.status, got.headers, got.body)
	return err
}

// findings are what the checks say about a kit with one operation, by check.
// What passes is not there.
func findings(t *testing.T, kit Kit) map[string]error {
	t.Helper()
	r := newRig(t, &kit)
	found := map[string]error{}
	p := &probe{rig: r, t: t, op: &kit.Operations[0]}
	if err := p.example(); err != nil {
		return map[string]error{"example": err}
	}
	for _, c := range checks {
		if err := p.check(t, c); err != nil {
			found[c.name] = err
		}
	}
	if err := r.sweep(); err != nil {
		found[sweepCheck] = err
	}
	return found
}

// carefulSweep is how expired keys should go.
const carefulSweep = `WITH victim AS MATERIALIZED (
  SELECT scope, digest FROM idem.keys WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
DELETE FROM idem.keys k USING victim v WHERE k.scope = v.scope AND k.digest = v.digest`

// sweepWith repeats a statement until it deletes nothing.
func sweepWith(sql string) func(context.Context, *pgxpool.Pool, int) error {
	return func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
		for {
			tag, err := pool.Exec(ctx, sql, batch)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
		}
	}
}

func carefulKit(t *testing.T, c careful, sweep string) Kit {
	url := URL(t, carefulTables)
	side := Open(t, url, nil)
	return Kit{
		URL: url,
		Handler: func(_ testing.TB, pool *pgxpool.Pool) http.Handler {
			c.pool, c.side = pool, side
			return c
		},
		Operations: []Operation{carefulOperation()},
		Sweep:      sweepWith(sweep),
		Patience:   5 * time.Second,
	}
}
