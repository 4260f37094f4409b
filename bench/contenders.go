package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/internal/api"
	"github.com/idemgen/idemgen/bench/internal/db"
)

// contender records a payment for an order, once per key.
type contender struct {
	name   string
	run    func(ctx context.Context, key, order string) error
	byHand string // the contender that does the same without idemgen
}

const (
	tenant = "bench"

	oneByHand = "textbook transaction"
	twoByHand = "two statements by hand"
	overHTTP  = "idemgen fused (HTTP handler)"
)

// contenders are every way to record a payment that one run compares, all over
// one pool.
func contenders(pool *pgxpool.Pool) ([]contender, error) {
	svc, err := api.New(pool, api.Options{Caller: func(*http.Request) (api.Caller, error) {
		return api.Caller{TenantID: tenant}, nil
	}})
	if err != nil {
		return nil, err
	}
	router := chi.NewRouter()
	if err := svc.Mount(router); err != nil {
		return nil, err
	}
	q := db.New(pool)
	return []contender{
		{name: "bare INSERT, no idempotency", run: func(ctx context.Context, _, order string) error {
			row, err := q.CreatePayment(ctx, db.CreatePaymentParams{TenantID: tenant, OrderID: order, Amount: 100})
			if err != nil {
				return err
			}
			_, err = json.Marshal(row)
			return err
		}},
		{name: oneByHand, run: textbook{pool: pool}.run},
		{name: "idemgen fused (Go call)", byHand: oneByHand, run: func(ctx context.Context, key, order string) error {
			_, _, err := svc.CreatePayment(ctx, api.Caller{TenantID: tenant}, key, api.CreatePaymentInput{OrderID: order, Amount: 100})
			return err
		}},
		{name: overHTTP, byHand: oneByHand, run: func(ctx context.Context, key, order string) error {
			return post(ctx, router, "/payments", key, order)
		}},
		{name: twoByHand, run: textbook{pool: pool, event: true}.run},
		{name: "idemgen stepped (Go call)", byHand: twoByHand, run: func(ctx context.Context, key, order string) error {
			_, _, err := svc.CreatePaymentWithEvent(ctx, api.Caller{TenantID: tenant}, key, api.CreatePaymentWithEventInput{OrderID: order, Amount: 100})
			return err
		}},
	}, nil
}

func post(ctx context.Context, h http.Handler, path, key, order string) error {
	body := fmt.Sprintf(`{"order_id":%q,"amount":100}`, order)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewBufferString(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", `"`+key+`"`)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		return fmt.Errorf("%s answered %d: %s", path, w.Code, w.Body)
	}
	return nil
}

// textbook is the transaction that a careful team writes by hand: look for the
// key, write, store the response, commit. With event, the business part is two
// statements.
type textbook struct {
	pool  *pgxpool.Pool
	event bool
}

func (t textbook) run(ctx context.Context, key, order string) error {
	request := sha256.Sum256([]byte(order))
	return pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		var stored []byte
		err := tx.QueryRow(ctx, `SELECT body FROM textbook_keys WHERE tenant_id = $1 AND key = $2 AND expires_at > now()`, tenant, key).Scan(&stored)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		q := db.New(tx)
		row, err := q.CreatePayment(ctx, db.CreatePaymentParams{TenantID: tenant, OrderID: order, Amount: 100})
		if err != nil {
			return err
		}
		if t.event {
			if err := q.InsertEvent(ctx, row.ID); err != nil {
				return err
			}
		}
		body, err := json.Marshal(row)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO textbook_keys (tenant_id, key, request, status, body, expires_at) VALUES ($1, $2, $3, 201, $4, $5)`,
			tenant, key, request[:], body, time.Now().Add(24*time.Hour))
		return err
	})
}
