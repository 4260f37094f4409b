package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
)

func doRequest(key, print string) Request {
	return Request{Scope: "t1", Operation: "shop.Hand", Key: key, Fingerprint: []byte(print)}
}

func TestDoRunsOnce(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	runs := 0
	handler := func(ctx context.Context, tx Tx) (Response, error) {
		runs++
		_, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance - 1 WHERE id = $1", 1)
		return Response{Status: 201, Header: http.Header{"Location": {"/x"}, "Set-Cookie": {"secret"}}, Body: []byte(`{"a":1}`)}, err
	}
	for i := range 2 {
		response, meta, err := Do(t.Context(), pool, doRequest("k", "p"), handler)
		if err != nil {
			t.Fatal(err)
		}
		if string(response.Body) != `{"a":1}` || response.Status != 201 || response.Header.Get("Location") != "/x" || meta.Replayed != (i == 1) {
			t.Errorf("%d: %+v %+v", i, response, meta)
		}
		if response.Header.Get("Set-Cookie") != "" {
			t.Error("a cookie")
		}
	}
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
	_, _, err := Do(t.Context(), pool, doRequest("k", "other"), handler)
	if CodeOf(err) != "key-reused" {
		t.Errorf("another fingerprint: %v", err)
	}
	var headers string
	if err := pool.QueryRow(t.Context(), "SELECT headers::text FROM idem.keys").Scan(&headers); err != nil || strings.Contains(headers, "secret") {
		t.Errorf("stored %s, %v", headers, err)
	}
}

func TestDoRecordsAFailure(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	handler := func(ctx context.Context, tx Tx) (Response, error) {
		if _, err := tx.Exec(ctx, "UPDATE accounts SET balance = 0 WHERE id = 1"); err != nil {
			return Response{}, err
		}
		return Response{}, Fail(409, "closed", "the account is closed")
	}
	for i := range 2 {
		_, meta, err := Do(t.Context(), pool, doRequest("k", ""), handler)
		if CodeOf(err) != "closed" || meta.Status != 409 || meta.Replayed != (i == 1) {
			t.Errorf("%d: %v %+v", i, err, meta)
		}
	}
	s := &shop{pool: pool}
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 100 {
		t.Errorf("balance %d: the write was kept", n)
	}
}

// A handler that ends the transaction on its own gets no record, and no answer
// that says it worked.
func TestPitfall_4_AHandlersOwnCommit(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		_, _, err := Do(t.Context(), pool, doRequest("k", ""), func(ctx context.Context, tx Tx) (Response, error) {
			_, err := tx.Exec(ctx, end)
			return Response{Status: 200}, err
		})
		if CodeOf(err) != "internal" {
			t.Errorf("%s: %v", end, err)
		}
	}
	if n := (&shop{pool: pool}).count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestCase_crash_3(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	panics := true
	handler := func(ctx context.Context, tx Tx) (Response, error) {
		if _, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance - 1 WHERE id = 1"); err != nil {
			return Response{}, err
		}
		if panics {
			panic("secret")
		}
		return Response{Status: 200}, nil
	}
	_, meta, err := Do(t.Context(), pool, doRequest("k", ""), handler)
	if meta.Status != 500 || CodeOf(err) != "internal" || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v %v", meta, err)
	}
	panics = false
	if _, meta, err = Do(t.Context(), pool, doRequest("k", ""), handler); err != nil || meta.Replayed {
		t.Errorf("%+v %v", meta, err)
	}
	if n := (&shop{pool: pool}).count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 99 {
		t.Errorf("balance %d", n)
	}
}

func TestDoRefusesBadRequests(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	for _, r := range []Request{
		{Operation: "o", Key: "k"}, {Scope: "s", Key: "k"}, {Scope: "s", Operation: "o"},
		{Scope: "s", Operation: "o", Key: "a b"}, {Scope: strings.Repeat("s", 256), Operation: "o", Key: "k"},
	} {
		if _, _, err := Do(t.Context(), pool, r, nil); err == nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestAHandlersErrorIsKeptForCallers(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	_, _, err := Do(t.Context(), pool, doRequest("k", ""), func(context.Context, Tx) (Response, error) {
		return Response{}, pgx.ErrNoRows
	})
	if !errors.Is(err, pgx.ErrNoRows) || CodeOf(err) != "internal" {
		t.Errorf("%v", err)
	}
}

func TestCallRunsTheSameOperation(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	first := s.post("Create", "k", order1)
	var id int64
	out := []OutputColumn{{Path: "id", Kind: KindInt8, Into: &id}}
	meta, err := s.Call(t.Context(), "Create", []any{"t1"}, "k", []any{"o1", int64(5), nil}, out)
	if err != nil || !meta.Replayed || meta.Status != 201 || id != 1 {
		t.Errorf("%+v %v %d; %s", meta, err, id, first.Body)
	}
	_, err = s.Call(t.Context(), "Create", []any{"t1"}, "", []any{"o1", int64(5), nil}, out)
	if CodeOf(err) != "key-missing" {
		t.Errorf("%v", err)
	}
	_, err = s.Call(t.Context(), "Create", []any{"t1"}, "k2", []any{"o1", int64(6), nil}, out)
	var e *Error
	if !errors.As(err, &e) || e.Code != "intent-conflict" || !strings.Contains(string(e.Existing), `"o1"`) {
		t.Errorf("%v", err)
	}
}

// What bounds the wait for the claim must not end waits of the business SQL.
func TestPitfall_7_TheLimitEndsWithTheClaim(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	for _, level := range []Isolation{ReadCommitted, RepeatableRead} {
		for _, wait := range []time.Duration{-1, time.Second} {
			request := Request{Scope: "t1", Operation: "jobs.Limit", Key: fmt.Sprintf("%.6s%s", level, wait)}
			request.Policy.Isolation, request.Policy.Wait = level, wait
			var limits string
			_, _, err := Do(t.Context(), pool, request, func(ctx context.Context, tx Tx) (Response, error) {
				return Response{}, tx.QueryRow(ctx, "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')").Scan(&limits)
			})
			if err != nil || limits != fmt.Sprintf("0 %ds", 30+max(wait, 0)/time.Second) {
				t.Errorf("%q, wait %s: %q, %v", level, wait, limits, err)
			}
		}
	}
}

// What another operation says of a copy of its request that runs now is no
// definite answer: the next attempt may find it done.
func TestDoDoesNotRecordWhatIsInFlightElsewhere(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	busy := true
	handler := func(context.Context, Tx) (Response, error) {
		if busy {
			return Response{}, fmt.Errorf("charge: %w", errInFlight())
		}
		return Response{Status: 201, Body: []byte(`{}`)}, nil
	}
	if _, _, err := Do(t.Context(), pool, doRequest("k", "p"), handler); CodeOf(err) != "in-flight" {
		t.Fatalf("while it runs elsewhere: %v", err)
	}
	busy = false
	if response, meta, err := Do(t.Context(), pool, doRequest("k", "p"), handler); err != nil || response.Status != 201 || meta.Replayed {
		t.Errorf("after it: %+v %+v %v", response, meta, err)
	}
}
