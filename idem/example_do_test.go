package idem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// redeem is POST /v1/vouchers/{code}/redeem, written by hand.
func redeem(pool *pgxpool.Pool, tenantOf func(*http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err != nil {
			refuse(w, &idem.Error{Status: http.StatusBadRequest, Code: "body-unreadable"})
			return
		}
		request := idem.Request{
			Scope:       tenantOf(r),
			Operation:   "shop.RedeemVoucher",
			Key:         keyOf(r),
			Fingerprint: fmt.Appendf(nil, "%q %s", r.PathValue("code"), body),
		}
		code := r.PathValue("code") // the handler must not touch r or w
		response, meta, err := idem.Do(r.Context(), pool, request, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
			return redeemVoucher(ctx, tx, request.Scope, code)
		})
		var refusal *idem.Error
		switch {
		case errors.As(err, &refusal):
			refuse(w, refusal)
			return
		case err != nil:
			slog.Error("redeem", "error", err) // the client is gone, or the request can't be one
			refuse(w, &idem.Error{Status: http.StatusInternalServerError, Code: "internal"})
			return
		}
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.Header().Set("Idempotent-Replayed", strconv.FormatBool(meta.Replayed))
		w.WriteHeader(response.Status)
		_, _ = w.Write(response.Body)
	}
}

// redeemVoucher is the business. It may run several times until one commits.
func redeemVoucher(ctx context.Context, tx idem.Tx, tenant, code string) (idem.Response, error) {
	var value int64
	err := tx.QueryRow(ctx, "UPDATE vouchers SET redeemed = true WHERE tenant_id = $1 AND code = $2 AND NOT redeemed RETURNING value",
		tenant, code).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return idem.Response{}, idem.Fail(http.StatusConflict, "not_redeemable", "there is no such voucher, or it was redeemed")
	}
	if err != nil {
		return idem.Response{}, err
	}
	_, err = tx.Exec(ctx, "INSERT INTO credits (tenant_id, voucher, value) VALUES ($1, $2, $3)", tenant, code, value)
	var violation *pgconn.PgError
	if errors.As(err, &violation) && violation.ConstraintName == "credits_value_check" {
		return idem.Response{}, idem.Fail(http.StatusUnprocessableEntity, "worthless", "the voucher has no value")
	}
	if err != nil {
		return idem.Response{}, err
	}
	body, err := json.Marshal(map[string]any{"code": code, "value": value})
	return idem.Response{
		Status: http.StatusCreated,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   body,
	}, err
}

// keyOf is the decoded key: the header may hold it bare, or as a
// structured-field string.
func keyOf(r *http.Request) string {
	key := strings.Trim(r.Header.Get("Idempotency-Key"), " \t")
	if len(key) > 1 && key[0] == '"' && key[len(key)-1] == '"' {
		key = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(key[1 : len(key)-1])
	}
	return key
}

func refuse(w http.ResponseWriter, e *idem.Error) {
	w.Header().Set("Content-Type", "application/problem+json")
	if e.Status == http.StatusServiceUnavailable || e.Code == "in-flight" {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": e.Status, "code": e.Code, "title": e.Title})
}

const vouchers = `
CREATE TABLE vouchers (tenant_id text, code text, value bigint NOT NULL, redeemed boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant_id, code));
CREATE TABLE credits (tenant_id text, voucher text, value bigint CONSTRAINT credits_value_check CHECK (value > 0));
INSERT INTO vouchers VALUES ('acme', 'SPRING', 500), ('acme', 'VOID', 0);`

// exampleTB lets an example use idemtest, which wants a test.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (e *exampleTB) Helper()                   {}
func (e *exampleTB) Cleanup(f func())          { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }

func (e *exampleTB) done() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}

func ExampleDo() {
	t := &exampleTB{}
	defer t.done()
	pool := idemtest.Pool(t, vouchers)

	mux := http.NewServeMux()
	mux.Handle("POST /v1/vouchers/{code}/redeem", redeem(pool, func(*http.Request) string { return "acme" }))
	send := func(code, key string) {
		r := httptest.NewRequest("POST", "/v1/vouchers/"+code+"/redeem", strings.NewReader(""))
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Idempotent-Replayed"), strings.TrimSpace(w.Body.String()))
	}
	send("SPRING", `"k1"`)
	send("SPRING", "k1")
	send("SPRING", "k2")
	send("VOID", "k3")
	send("VOID", "k1")

	var credits int
	_ = pool.QueryRow(context.Background(), "SELECT count(*) FROM credits").Scan(&credits)
	fmt.Println("credits:", credits)
	// Output:
	// 201 false {"code":"SPRING","value":500}
	// 201 true {"code":"SPRING","value":500}
	// 409  {"code":"not_redeemable","status":409,"title":"there is no such voucher, or it was redeemed"}
	// 422  {"code":"worthless","status":422,"title":"the voucher has no value"}
	// 422  {"code":"key-reused","status":422,"title":"Idempotency key reused"}
	// credits: 1
}
