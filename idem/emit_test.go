package idem

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// adjusted tells of an adjustment, twice.
func adjusted(ctx context.Context, in adjusting) error {
	for i := range 2 {
		err := Emit(ctx, OutboxEvent{Topic: "account.adjusted", OrderKey: "1", Payload: map[string]any{"amount": in.amount, "i": i}})
		if err != nil {
			return err
		}
	}
	return Emit(ctx, OutboxEvent{Topic: "audit", Payload: json.RawMessage(`{"n": 9007199254740993}`)})
}

// telling serves adjust with a function that emits, unless before fails.
func telling(t *testing.T, spy Outbox, op *Operation, before func(run int) error) *shop {
	t.Helper()
	runs := 0
	return outboxShop(t, spy, map[string]GoFunc{"Adjust": func(ctx context.Context, tx Tx, scan func(...any) error) ([]any, error) {
		runs++
		var in adjusting
		if err := scan(&in.amount, &in.balance, &in.tenant); err != nil {
			return nil, err
		}
		if err := adjusted(ctx, in); err != nil {
			return nil, err
		}
		return []any{in.amount, nil}, before(runs)
	}}, op)
}

func well(int) error { return nil }

// Events of Go code are part of the transaction, at every isolation: once per
// execution, however often the function ran, and never for a replay.
func TestEmitIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		t.Run(string(level), func(t *testing.T) {
			spy := &outboxSpy{}
			s := telling(t, spy, adjust("Adjust", level), func(run int) error {
				if run < 3 {
					return statementError("40001")
				}
				return nil
			})
			first := s.post("Adjust", "k", ten, "Traceparent", aTrace)
			wantStatus(t, first, 201)
			sameAnswer(t, first, s.post("Adjust", "k", ten))
			events := s.outbox(t)
			if len(events) != 3 || spy.wakes.Load() != 1 {
				t.Fatalf("%d events, %d wake-ups: %+v", len(events), spy.wakes.Load(), events)
			}
			one, two, audit := events[0], events[1], events[2]
			if one.Topic != "account.adjusted" || one.Operation != "shop.Adjust" || one.Scope != "t1" || *one.OrderKey != "1" || one.Payload != `{"amount":10,"i":0}` {
				t.Errorf("%+v", one)
			}
			if strings.TrimSuffix(one.Key, "-1") != strings.TrimSuffix(two.Key, "-2") || !strings.HasSuffix(one.Key, "-1") || !strings.HasSuffix(two.Key, "-2") {
				t.Errorf("keys %s, %s", one.Key, two.Key)
			}
			if audit.OrderKey != nil || audit.Payload != `{"n":9007199254740993}` || audit.Headers == nil || !strings.Contains(*audit.Headers, aTrace) {
				t.Errorf("%+v", audit)
			}
		})
	}
}

// A client error of the function undoes its events with all else.
func TestEmitIsUndoneWithTheRest(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{}
	s := telling(t, spy, adjust("Adjust", ReadCommitted), func(int) error { return Fail(409, "overdrawn", "") })
	first := s.post("Adjust", "k", ten)
	wantCode(t, first, 409, "overdrawn")
	sameAnswer(t, first, s.post("Adjust", "k", ten))
	if events := s.outbox(t); len(events) != 0 || spy.wakes.Load() != 0 {
		t.Errorf("%d wake-ups, %+v", spy.wakes.Load(), events)
	}
}

// A forced run tells of itself under keys of its own, by its number.
func TestForcedRunsEmitUnderKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		op := adjust("Adjust", level)
		op.Policy.Force, op.Policy.Print = true, []string{}
		s := telling(t, nil, op, well)
		wantStatus(t, s.post("Adjust", "k", ten), 201)
		for range 2 {
			wantStatus(t, s.force("Adjust", "k", ten), 201)
		}
		var suffixes []string
		for _, e := range s.outbox(t) {
			if e.Topic == "audit" {
				suffixes = append(suffixes, e.Key[32:])
			}
		}
		if got := fmt.Sprint(suffixes); got != "[-1 .2-1 .3-1]" {
			t.Errorf("%s: %s", level, got)
		}
	}
}

// What can't be an event is a fault, and nothing of the operation stays.
func TestEmitRefuses(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]OutboxEvent{
		"topic": {Topic: "it's gone"}, "no topic": {}, "pattern": {Topic: "order.*"}, "long": {Topic: strings.Repeat("a", maxTopic+1)},
		"payload": {Topic: "a", Payload: math.Inf(1)}, "raw": {Topic: "a", Payload: json.RawMessage(`{`)},
		"bytes": {Topic: "a", Payload: json.RawMessage("\"\xff\"")}, "key": {Topic: "a", OrderKey: "a\x00"}, "key bytes": {Topic: "a", OrderKey: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, func(ctx context.Context, _ Tx, in adjusting) ([]any, error) {
				return []any{in.amount, nil}, Emit(ctx, e)
			})
			wantCode(t, s.post("Adjust", "k", ten), 500, "internal")
			s.untouched(t, 0)
		})
	}
	if err := Emit(t.Context(), OutboxEvent{Topic: "a"}); err == nil || !strings.Contains(err.Error(), "no Go step") {
		t.Errorf("%v", err)
	}
}

// Without a key the same request would tell of itself twice.
func TestEmitNeedsAKey(t *testing.T) {
	t.Parallel()
	op := adjust("Adjust", ReadCommitted)
	op.Key, op.Method = Key{}, http.MethodPut
	s := telling(t, nil, op, well)
	wantCode(t, s.call("Adjust", http.MethodPut, "1", ten), 500, "internal")
	optional := telling(t, nil, adjust("Adjust", ReadCommitted), well)
	for range 2 {
		wantStatus(t, optional.post("Adjust", "", ten), 201)
	}
	if n := len(optional.outbox(t)); n != 6 || len(s.outbox(t)) != 0 {
		t.Errorf("%d events of two executions", n)
	}
}

// The same in a handler of Do.
func TestEmitInDo(t *testing.T) {
	t.Parallel()
	s, spy := &shop{pool: idemtest.Pool(t, shopTables)}, &outboxSpy{}
	request := doRequest("k", "")
	request.Outbox = spy
	for i := range 2 {
		_, meta, err := Do(WithTraceContext(t.Context(), aTrace, ""), s.pool, request, func(ctx context.Context, _ Tx) (Response, error) {
			return Response{Status: 201}, Emit(ctx, OutboxEvent{Topic: "a", Payload: struct{}{}})
		})
		if err != nil || meta.Replayed != (i == 1) {
			t.Errorf("%+v %v", meta, err)
		}
	}
	e := s.outbox(t)
	if len(e) != 1 || e[0].Operation != "shop.Hand" || e[0].Scope != "t1" || e[0].Headers == nil || spy.wakes.Load() != 1 {
		t.Errorf("%d wake-ups, %+v", spy.wakes.Load(), e)
	}
}

// statementError is what a statement of the function would fail with.
func statementError(state string) error {
	return fmt.Errorf("it ran: %w", &pgconn.PgError{Code: state})
}

// Pitfall 29: JSON is sent as text, whatever the pool does with parameters.
func TestPitfall_29_EmitInEveryMode(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, shopTables)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		s := &shop{pool: idemtest.Open(t, url, func(config *pgxpool.Config) { config.ConnConfig.DefaultQueryExecMode = mode })}
		s.exec(t, "TRUNCATE idem.keys, idem.outbox")
		ctx := WithTraceContext(t.Context(), aTrace, "a=1")
		_, _, err := Do(ctx, s.pool, doRequest("k", ""), func(ctx context.Context, _ Tx) (Response, error) {
			return Response{}, Emit(ctx, OutboxEvent{Topic: "a", OrderKey: strings.Repeat(`'\é`, 100), Payload: map[string]string{"q": `it's "\u0000" é`}})
		})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		e := s.outbox(t)[0]
		if e.Payload != `{"q":"it's \"\\u0000\" é"}` || *e.OrderKey != strings.Repeat(`'\é`, 85) || e.Headers == nil || !strings.Contains(*e.Headers, `"tracestate": "a=1"`) {
			t.Errorf("%s: %+v %s", mode, e, *e.OrderKey)
		}
	}
}
