package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	idemclient "github.com/idemgen/idemgen/idem/client"
	"github.com/jackc/pgx/v5"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
)

type tenantKey struct{}

// authenticate finds the tenant of the API key in `Authorization: Bearer KEY`.
func authenticate(q *db.Queries) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !ok {
				unauthorized(w)
				return
			}
			tenant, err := q.TenantOfKey(r.Context(), digest(key))
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				unauthorized(w)
			case err != nil:
				refuse(w, http.StatusServiceUnavailable, "unavailable", "Try again")
			default:
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, tenant)))
			}
		})
	}
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized, "unauthenticated", "Authentication required")
}

// refuse writes a problem (RFC 9457) of the form that the operations have, as
// openapi.yaml says.
func refuse(w http.ResponseWriter, status int, code, title string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Should-Retry", strconv.FormatBool(status >= http.StatusInternalServerError))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that is gone needs no answer
		"type": "urn:idemgen:problem:" + code, "title": title, "status": status, "code": code,
		"instance": "urn:uuid:" + idemclient.NewKey(), "retryable": status >= http.StatusInternalServerError,
	})
}

// callerOf tells idemgen's handlers who calls: keys belong to the tenant.
func callerOf(r *http.Request) (api.Caller, error) {
	tenant, ok := r.Context().Value(tenantKey{}).(string)
	if !ok {
		return api.Caller{}, errors.New("not authenticated")
	}
	return api.Caller{TenantID: tenant}, nil
}

func digest(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// newAPIKey makes a key and stores its digest.
func newAPIKey(ctx context.Context, q *db.Queries, tenant string) (string, error) {
	key := rand.Text()
	return key, q.AddAPIKey(ctx, db.AddAPIKeyParams{Digest: digest(key), TenantID: tenant})
}

// printAPIKey makes a key and prints it, this once.
func printAPIKey(ctx context.Context, w io.Writer, q *db.Queries, tenant string) error {
	key, err := newAPIKey(ctx, q, tenant)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, key)
	return err
}
