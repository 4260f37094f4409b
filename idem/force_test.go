package idem

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// The sections "forced" of the shop's operations: the user's statement without a
// gate, and the upsert of the record.
const (
	upsert = ` ON CONFLICT (scope, digest) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
    headers = excluded.headers, body = excluded.body, attempt = k.attempt + 1, expires_at = excluded.expires_at
  WHERE k.expires_at <= clock_timestamp() OR (SELECT a.hit FROM idem_answer a) IS NOT NULL
)
SELECT false, a.status, a.headers::text, a.body, NULL::bytea FROM idem_answer a;
`
	forcedCharge = `
-- statement: forced
WITH idem_done AS (
  UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2 RETURNING id, balance, $2 < 90 AS small
), idem_answer AS MATERIALIZED (
  SELECT (CASE WHEN d.hit IS NULL THEN 409 ELSE 201 END)::smallint AS status, CASE WHEN d.hit IS NULL THEN $8::jsonb END AS headers,
    CASE WHEN d.hit IS NULL THEN $7::text WHEN d.small IS NOT TRUE THEN idem.refuse('small')
      ELSE json_build_object('id', d.id, 'balance', d.balance)::text END AS body, d.hit
  FROM (SELECT 1) o LEFT JOIN (SELECT true AS hit, x.* FROM idem_done x LIMIT 1) d ON true
), idem_recorded AS (
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $3, $4, 'shop.Charge', $5, $6, a.status, a.headers, a.body,
    clock_timestamp() + CASE WHEN a.hit IS NULL THEN interval '2 hours' ELSE interval '24 hours' END
  FROM idem_answer a` + upsert
	forcedJob = `
-- statement: forced
WITH idem_done AS (
  UPDATE jobs SET taken = true WHERE id = (
    SELECT id FROM jobs WHERE NOT taken ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id
), idem_answer AS MATERIALIZED (
  SELECT (CASE WHEN d.hit IS NULL THEN 404 ELSE 200 END)::smallint AS status, CASE WHEN d.hit IS NULL THEN $6::jsonb END AS headers,
    CASE WHEN d.hit IS NULL THEN $5::text ELSE json_build_object('id', d.id)::text END AS body, d.hit
  FROM (SELECT 1) o LEFT JOIN (SELECT true AS hit, x.* FROM idem_done x LIMIT 1) d ON true
), idem_recorded AS (
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $1, $2, 'shop.TakeJob', $3, $4, a.status, a.headers, a.body, clock_timestamp() + interval '24 hours'
  FROM idem_answer a` + upsert
)

// forceable lets an operation of the shop be forced, and compare nothing, as in
// profile gateway.
func forceable(op *Operation) *Operation {
	op.Policy.Force, op.Policy.Print = true, []string{}
	switch op.Name {
	case "Charge":
		op.SQL += forcedCharge
		op.Steps[0].Forced = append(append(fieldArgs(0, 1), keyArgs...), emptyArgs...)
	case "TakeJob":
		op.SQL += forcedJob
		op.Steps[0].Forced = append(append([]Arg{}, keyArgs...), emptyArgs...)
	}
	return op
}

// forceables are one operation of each way to run, the first of them last.
func forceables() []*Operation {
	return []*Operation{
		forceable(charge()), forceable(takeJob()), forceable(transfer("Transfer", ReadCommitted)),
		forceable(transfer("Steady", RepeatableRead)), forceable(transfer("Strict", Serializable)),
	}
}

// force sends a request that is to run again.
func (s *shop) force(name Name, key, body string) *httptest.ResponseRecorder {
	return s.post(name, key, body, forceHeader, "true")
}

func replayed(w *httptest.ResponseRecorder) bool { return w.Header().Get(replayedHeader) == "true" }

const manyJobs = "INSERT INTO jobs SELECT FROM generate_series(1, 99)"

// A forced run that fails keeps the record; where there is none, its own client
// error is one.
func TestForcedRunThatFailsKeepsTheRecord(t *testing.T) {
	t.Parallel()
	spoil := map[Name]string{
		"Charge": "UPDATE accounts SET balance = 0", "TakeJob": "UPDATE jobs SET taken = true",
		"Transfer": "UPDATE accounts SET balance = 0", "Steady": "UPDATE accounts SET balance = 0", "Strict": "UPDATE accounts SET balance = 0",
	}
	for _, op := range forceables() {
		t.Run(string(op.Name), func(t *testing.T) {
			s := newShop(t, op)
			s.exec(t, manyJobs)
			first := s.post(op.Name, "k", bodyFor(op.Name))
			wantStatus(t, first, op.Status)
			s.exec(t, spoil[op.Name])
			failed := s.force(op.Name, "k", bodyFor(op.Name))
			if body := failed.Body.String(); replayed(failed) || !strings.Contains(body, `"code":"insufficient_funds"`) && !strings.Contains(body, `"code":"no_job"`) {
				t.Fatalf("forced: %d %s", failed.Code, failed.Body)
			}
			if again := s.post(op.Name, "k", bodyFor(op.Name)); !replayed(again) || again.Body.String() != first.Body.String() {
				t.Errorf("the record is gone: %d %s", again.Code, again.Body)
			}
			alone := s.force(op.Name, "new", bodyFor(op.Name))
			if again := s.post(op.Name, "new", bodyFor(op.Name)); !replayed(again) || again.Body.String() != alone.Body.String() {
				t.Errorf("a definite answer without a record: %s, then %s", alone.Body, again.Body)
			}
		})
	}
}

// A failed requirement undoes a forced run as any other.
func TestForcedRunIsUndone(t *testing.T) {
	t.Parallel()
	s := newShop(t, forceable(charge()))
	first := s.post("Charge", "k", `{"amount": 1}`)
	wantCode(t, s.force("Charge", "k", `{"amount": 95}`), 409, "too_large")
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 99 {
		t.Errorf("balance %d", n)
	}
	if again := s.post("Charge", "k", `{"amount": 1}`); again.Body.String() != first.Body.String() {
		t.Errorf("again %s", again.Body)
	}
}

func TestForceHeader(t *testing.T) {
	t.Parallel()
	s := newShop(t, forceable(charge()), createPayment("Create", patience, false), getPayment())
	send := func(values ...string) *httptest.ResponseRecorder {
		var headers []string
		for _, v := range values {
			headers = append(headers, forceHeader, v)
		}
		return s.post("Charge", "k", `{"amount": 1}`, headers...)
	}
	wantStatus(t, send(), 201)
	for value, ran := range map[string]bool{"true": true, "TRUE": true, " true ": true, "false": false, "False": false} {
		if w := send(value); w.Code != 201 || replayed(w) == ran {
			t.Errorf("%q: %d %s", value, w.Code, w.Body)
		}
	}
	for _, values := range [][]string{{""}, {"1"}, {"yes"}, {"true, true"}, {"true", "true"}, {"true;q=1"}, {"\x80"}} {
		wantCode(t, send(values...), 400, "force-retry-invalid")
	}
	refused := s.post("Create", "k", order1, forceHeader, "true")
	wantCode(t, refused, 400, "force-retry-refused")
	if !strings.Contains(refused.Body.String(), "operation Create ") {
		t.Errorf("not named: %s", refused.Body)
	}
	wantStatus(t, s.post("Create", "k", order1, forceHeader, "false"), 201)
	// There is nothing to force without a key.
	wantCode(t, s.call("GetPayment", "GET", "9", "", forceHeader, "true"), 404, "not_found")
	if n := s.count(t, "SELECT attempt FROM idem.keys WHERE operation = 'shop.Charge'"); n != 4 {
		t.Errorf("%d attempts", n)
	}
}

// Where payloads are compared, a forced run does not replace the record of
// another request.
func TestForcedRunWithAnotherPayload(t *testing.T) {
	t.Parallel()
	for _, op := range forceables()[:4] {
		if op.Name == "TakeJob" {
			continue // it takes no input
		}
		for _, compares := range []bool{true, false} {
			t.Run(fmt.Sprint(op.Name, compares), func(t *testing.T) {
				if op.Policy.Print = []string{}; compares {
					op.Policy.Print = nil
				}
				s := newShop(t, op)
				wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name)), 201)
				other := strings.Replace(bodyFor(op.Name), ": 1}", ": 2}", 1)
				got := s.force(op.Name, "k", other)
				effects := int64(3)
				if compares {
					wantCode(t, got, 422, "key-reused")
					effects = 2
					wantStatus(t, s.force(op.Name, "k", bodyFor(op.Name)), 201)
				} else {
					wantStatus(t, got, 201)
				}
				if n := s.count(t, "SELECT 100 - balance FROM accounts WHERE id = 1"); n != effects {
					t.Errorf("%d effects", n)
				}
			})
		}
	}
}

// The connection is lost at the commit of a forced run. Nothing tells whether the
// record is the new one: 503, and a plain request sees it. It never runs twice.
func TestForcedRunWhoseConnectionIsLost(t *testing.T) {
	t.Parallel()
	for _, op := range forceables()[:3] {
		t.Run(string(op.Name), func(t *testing.T) {
			text := "key-1"
			if op.Strategy == Stepped {
				text = "COMMIT"
			}
			cut := &cutter{text: text}
			url := idemtest.URL(t, shopTables, manyJobs)
			plain := openShop(t, idemtest.Open(t, url, nil), op)
			wantStatus(t, plain.post(op.Name, "key-1", bodyFor(op.Name)), op.Status)
			s := openShop(t, cuttingPool(t, url, cut), op)
			wantStatus(t, s.post(op.Name, "key-0", bodyFor(op.Name)), op.Status) // statements are prepared
			before := plain.count(t, allEffects)
			cut.armed.Store(true)
			lost := s.force(op.Name, "key-1", bodyFor(op.Name))
			wantCode(t, lost, 503, "unavailable")
			if !strings.Contains(lost.Body.String(), "Sent again without X-Force-Retry") {
				t.Errorf("what to do: %s", lost.Body)
			}
			if n := plain.count(t, allEffects) - before; n > 1 {
				t.Errorf("%d effects", n)
			}
			if again := plain.post(op.Name, "key-1", bodyFor(op.Name)); !replayed(again) {
				t.Errorf("again: %d %s", again.Code, again.Body)
			}
		})
	}
}

// An expired record is replaced, too, and forced runs of many keys do not meet.
func TestForcedRunOfAnExpiredRecord(t *testing.T) {
	t.Parallel()
	for _, op := range forceables() {
		t.Run(string(op.Name), func(t *testing.T) {
			s := newShop(t, op)
			s.exec(t, manyJobs)
			s.post(op.Name, "k", bodyFor(op.Name))
			s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
			second := s.force(op.Name, "k", bodyFor(op.Name))
			wantStatus(t, second, op.Status)
			if again := s.post(op.Name, "k", bodyFor(op.Name)); !replayed(again) || again.Body.String() != second.Body.String() {
				t.Errorf("again: %s", again.Body)
			}
			if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE expires_at > clock_timestamp() + interval '23 h'"); n != 1 {
				t.Errorf("%d records", n)
			}
		})
	}
}
