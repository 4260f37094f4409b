package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/internal/db"
)

// byHandContenders are what one writes with sqlc alone.
func byHandContenders(pool *pgxpool.Pool) []contender {
	insert := insertPayment(pool)
	handler, same := insertByHand(insert), insertByHand(insertFused(pool))
	return []contender{
		{name: bareInsert, base: bareInsert, run: func(ctx context.Context, r request) error {
			_, err := insert(ctx, payment{OrderID: r.order, Amount: amount}, r.key)
			return err
		}},
		{name: bareHTTP, base: bareHTTP, run: func(ctx context.Context, r request) error {
			return post(ctx, handler, r)
		}},
		{name: sameByHand, keyed: true, base: bareHTTP, run: func(ctx context.Context, r request) error {
			return post(ctx, same, r)
		}},
		{name: oneByHand, keyed: true, base: bareInsert, run: textbook{pool: pool}.run},
		{name: twoByHand, keyed: true, event: true, base: bareInsert, run: textbook{pool: pool, event: true}.run},
		{name: readByHand, reads: true, base: readByHand, run: reader(pool, readPayment(pool))},
	}
}

// insertPayment is the business part, and the answer to it.
func insertPayment(pool *pgxpool.Pool) func(ctx context.Context, in payment, key string) ([]byte, error) {
	q := db.New(pool)
	return func(ctx context.Context, in payment, _ string) ([]byte, error) {
		row, err := q.CreatePayment(ctx, db.CreatePaymentParams{TenantID: tenant, OrderID: in.OrderID, Amount: in.Amount})
		if err != nil {
			return nil, err
		}
		return json.Marshal(row)
	}
}

// textbook is the transaction that a careful team writes by hand: look for the
// key, write, store the response, commit. With event, the business part is two
// statements.
type textbook struct {
	pool  *pgxpool.Pool
	event bool
}

func (t textbook) run(ctx context.Context, r request) error {
	fingerprint := sha256.Sum256([]byte(r.order))
	return pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		var stored []byte
		err := tx.QueryRow(ctx, `SELECT body FROM textbook_keys WHERE tenant_id = $1 AND key = $2 AND expires_at > now()`, tenant, r.key).Scan(&stored)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		body, err := t.write(ctx, tx, r)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO textbook_keys (tenant_id, key, request, status, body, expires_at) VALUES ($1, $2, $3, 201, $4, $5)`,
			tenant, r.key, fingerprint[:], string(body), time.Now().Add(day))
		return err
	})
}

func (t textbook) write(ctx context.Context, tx pgx.Tx, r request) ([]byte, error) {
	q := db.New(tx)
	row, err := q.CreatePayment(ctx, db.CreatePaymentParams{TenantID: tenant, OrderID: r.order, Amount: amount})
	if err != nil {
		return nil, err
	}
	if t.event {
		if err := q.InsertEvent(ctx, row.ID); err != nil {
			return nil, err
		}
	}
	return json.Marshal(row)
}

// readPayment is the shortest handler there can be over a database: one row, by its
// primary key.
func readPayment(pool *pgxpool.Pool) http.Handler {
	q := db.New(pool)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /payments/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := pathID(r)
		if err != nil {
			http.Error(w, "no such payment", http.StatusNotFound)
			return
		}
		row, err := q.GetPayment(r.Context(), id)
		if err != nil {
			http.Error(w, "no such payment", http.StatusNotFound)
			return
		}
		body, err := json.Marshal(row)
		if err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		answer(w, http.StatusOK, body)
	})
	return mux
}
