package idemtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
)

// done is a handler over idem.Do.
type done struct{ pool *pgxpool.Pool }

func (d done) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	job := &work{careful: &careful{profile: "ietf"}, by: protocols["ietf"]}
	if code := job.takeKey(r); code != "" {
		job.write(w, job.refusal(outcome{code: code}))
		return
	}
	key := job.key
	body, err := io.ReadAll(r.Body)
	var in payment
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		job.write(w, record{status: http.StatusBadRequest})
		return
	}
	canonical, _ := json.Marshal(in)
	print := sha256.Sum256(canonical)
	tenant := r.Header.Get(CallerHeader)
	request := idem.Request{Scope: tenant, Operation: "Pay", Key: key, Fingerprint: print[:]}
	response, meta, err := idem.Do(r.Context(), d.pool, request, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
		if in.Amount > limit {
			return idem.Response{}, idem.Fail(http.StatusPaymentRequired, "over-limit", "")
		}
		var id int64
		err := tx.QueryRow(ctx, "INSERT INTO payments (tenant, reference, amount) VALUES ($1, $2, $3) RETURNING id",
			tenant, in.Reference, in.Amount).Scan(&id)
		return idem.Response{Status: 201, Body: fmt.Appendf(nil, `{"id": %d}`, id), Header: http.Header{
			"Content-Type": {"application/json"}, "Set-Cookie": {"session=" + tenant},
		}}, err
	})
	var refused *idem.Error
	got := record{status: response.Status, body: string(response.Body), headers: map[string]string{}, replayed: meta.Replayed}
	switch {
	case errors.As(err, &refused):
		got.status, got.body = refused.Status, job.problem(refused.Status, outcome{code: refused.Code})
		if refused.Status == http.StatusServiceUnavailable || refused.Code == codeInFlight {
			got.headers["Retry-After"] = "1"
		}
	case err != nil:
		got = job.refusal(outcome{code: "internal"})
	}
	for name := range response.Header {
		got.headers[name] = response.Header.Get(name)
	}
	job.write(w, got)
}

// A handler over idem.Do keeps all promises; this is also how the kit is used.
func TestConformanceOfDo(t *testing.T) {
	Conformance(t, Kit{
		URL:        URL(t, carefulTables),
		Handler:    func(_ testing.TB, pool *pgxpool.Pool) http.Handler { return done{pool} },
		Operations: []Operation{careful{profile: "ietf"}.operation()},
		Fixtures: func(_ testing.TB, f *Fixture) {
			if f.Refused {
				f.Set("body.amount", limit+1)
			}
		},
		Sweep: func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
			_, err := (&idem.Sweeper{Pool: pool, Batch: batch}).Sweep(ctx)
			return err
		},
	})
}

// An operation that refuses its example is skipped, and the skip says what to add.
func TestRefusedExampleSaysWhatIsMissing(t *testing.T) {
	kit := carefulKit(t, careful{}, carefulSweep)
	kit.Operations[0].Body = `{"amount": "five"}`
	kit.Operations[0].Inputs[1].Fresh = false
	found := findings(t, kit)
	want := skip("it answers 400 {\"status\": 400, \"code\": \"body-malformed\", \"detail\": \"\"}\nto its example: /v1/payments\n" +
		"Fixtures must make what the example needs, and Set body.amount, body.reference; " +
		"in an emitted test, by conformanceFixtures, set in an init of a _test.go file of your own")
	if len(found) != 1 || !errors.Is(found["example"], want) {
		t.Errorf("%v", found)
	}
}

// What the operation writes must be told, or nothing is proved.
func TestUnknownEffectsAreNotPassed(t *testing.T) {
	kit := carefulKit(t, careful{}, carefulSweep)
	kit.Operations[0].Writes = nil
	if found := findings(t, kit); !errors.As(found["example"], new(skip)) {
		t.Errorf("%v", found)
	}
	kit = carefulKit(t, careful{}, carefulSweep)
	kit.Operations[0].Writes = []string{"idem.outbox"}
	if found := findings(t, kit); found["example"] == nil || errors.As(found["example"], new(skip)) {
		t.Errorf("%v", found)
	}
}

// Bodies without codes are faults, unless the kit is told of them; the fault says
// how.
func TestUnknownBodiesOfRefusalsAreExplained(t *testing.T) {
	kit := carefulKit(t, careful{hides: true}, carefulSweep)
	kit.OwnProblems = false
	p := &probe{rig: newRig(t, &kit), t: t, op: &kit.Operations[0]}
	err := p.example()
	if err == nil {
		err = p.check(t, check{run: mismatch}, &notes{})
	}
	if err == nil || !strings.Contains(err.Error(), "want 422 key-reused, got 422 <sorry/>\nIf the service has bodies of its own for refusals, set Kit.OwnProblems") {
		t.Errorf("%v", err)
	}
}

// Effects may be counted by the user.
func TestCountInPlaceOfWrites(t *testing.T) {
	kit := carefulKit(t, careful{}, carefulSweep)
	kit.Operations[0].Writes = nil
	kit.Operations[0].Count = func(ctx context.Context, pool *pgxpool.Pool) (n int64, err error) {
		err = pool.QueryRow(ctx, "SELECT count(*) FROM payments").Scan(&n)
		return n, err
	}
	for name, err := range findings(t, kit) {
		if !skipped(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
