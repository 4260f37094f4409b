package idem

import (
	"context"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
)

// leaving are the ways to leave something open; what they return ends it.
var leaving = map[string]func(ctx context.Context, tx Tx) func(){
	"rows": func(ctx context.Context, tx Tx) func() {
		rows, err := tx.Query(ctx, "SELECT generate_series(1, 100000)")
		if err != nil {
			return func() {}
		}
		rows.Next()
		return rows.Close
	},
	"batch": func(ctx context.Context, tx Tx) func() {
		batch := &pgx.Batch{}
		batch.Queue("SELECT 1")
		results := tx.SendBatch(ctx, batch)
		return func() { _ = results.Close() }
	},
	"row": func(ctx context.Context, tx Tx) func() {
		row := tx.QueryRow(ctx, "SELECT 1")
		return func() { _ = row.Scan(new(int)) }
	},
	"goroutine": func(ctx context.Context, tx Tx) func() {
		ended := make(chan struct{})
		begun := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = tx.CopyFrom(ctx, pgx.Identifier{"jobs"}, []string{"id"}, pgx.CopyFromFunc(func() ([]any, error) {
				close(begun)
				<-ctx.Done()
				return nil, ctx.Err()
			}))
		}()
		<-begun
		return func() { <-ended }
	},
}

// What a function leaves open would meet the statements that follow, or those of
// another request: it is a fault, met once, and the connection is not used again.
// Where a statement was cut off the connection is lost, and the function runs again.
func TestGoStepLeavesSomethingOpen(t *testing.T) {
	t.Parallel()
	for name, leave := range leaving {
		t.Run(name, func(t *testing.T) {
			runs, end := 0, func() {}
			s := goShop(t, idemtest.Pool(t, shopTables), ReadCommitted, func(ctx context.Context, tx Tx, in adjusting) ([]any, error) {
				if runs++; runs == 1 {
					end = leave(ctx, tx)
				}
				return []any{in.amount, nil}, nil
			})
			first := s.post("Adjust", "k", ten)
			end()
			if name != "goroutine" {
				wantStatus(t, first, 500)
				s.untouched(t, 0)
				if runs != 1 {
					t.Errorf("%d runs", runs)
				}
			}
			wantStatus(t, s.post("Adjust", "k", ten), 201)
			if n := s.count(t, "SELECT count(*) FROM jobs"); n != 1 {
				t.Errorf("%d runs of the function were committed", n)
			}
		})
	}
}

func TestDoLeavesSomethingOpen(t *testing.T) {
	t.Parallel()
	for name, leave := range leaving {
		t.Run(name, func(t *testing.T) {
			pool := idemtest.Pool(t, shopTables)
			runs, end := 0, func() {}
			handler := func(ctx context.Context, tx Tx) (Response, error) {
				if runs++; runs == 1 {
					end = leave(ctx, tx)
				}
				return Response{Status: 201}, nil
			}
			_, meta, err := Do(t.Context(), pool, doRequest("k", ""), handler)
			if name != "goroutine" && (err == nil || meta.Status != 500 || runs != 1) {
				t.Errorf("%d runs, %+v, %v", runs, meta, err)
			}
			end()
			if _, meta, err = Do(t.Context(), pool, doRequest("k", ""), handler); err != nil || meta.Status != 201 {
				t.Errorf("%+v, %v", meta, err)
			}
		})
	}
}

// The transaction of a handler ends with it: its connection is another request's
// by then.
func TestDoTransactionEndsWithTheHandler(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	var kept Tx
	_, _, err := Do(t.Context(), pool, doRequest("k", ""), func(_ context.Context, tx Tx) (Response, error) {
		kept = tx
		return Response{Status: 201}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Exec(t.Context(), "INSERT INTO jobs DEFAULT VALUES"); err == nil || !strings.Contains(err.Error(), "the handler has returned") {
		t.Error(err)
	}
	if n := (&shop{pool: pool}).count(t, "SELECT count(*) FROM jobs"); n != 0 {
		t.Errorf("%d writes on a connection of somebody else", n)
	}
}
