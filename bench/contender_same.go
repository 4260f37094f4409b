package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
)

// sameByHand is the emitted handler written by hand: it sends the very statement
// that idemgen emitted, so all that differs is idemgen's runtime. It does without
// what that does besides: waiting twins, failures, expired records, problems, logs.
const sameByHand = "the fused statement, HTTP by hand"

//go:embed internal/api/sql/create_payment.sql
var createPaymentFile string

// fusedStatement is the section of the emitted file that runs with a key.
func fusedStatement() string {
	_, text, _ := strings.Cut(createPaymentFile, "-- statement: keyed\n")
	text, _, _ = strings.Cut(text, "\n-- statement: ")
	return strings.TrimSpace(text)
}

// insertFused is insertPayment with a claim and a record.
func insertFused(pool *pgxpool.Pool) func(ctx context.Context, in payment, key string) ([]byte, error) {
	statement := fusedStatement()
	return func(ctx context.Context, in payment, key string) ([]byte, error) {
		canonical, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		fingerprint := sha256.Sum256(canonical)
		var (
			replayed      *bool
			status        *int16
			headers, body *string
			recorded      []byte
		)
		err = pool.QueryRow(ctx, statement, tenant, in.OrderID, in.Amount, tenant, idem.KeyDigest("bench.CreatePayment", key), key, fingerprint[:]).
			Scan(&replayed, &status, &headers, &body, &recorded)
		if err != nil || body == nil {
			return nil, err
		}
		return []byte(*body), nil
	}
}
