// Package run executes what the golden packages emit. It is run by
// TestGoldensRun, in a module graph that has chi.
package run

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	names "github.com/idemgen/idemgen/generator/render/testdata/golden/names"
	open "github.com/idemgen/idemgen/generator/render/testdata/golden/open"
	payments "github.com/idemgen/idemgen/generator/render/testdata/golden/payments"
	"github.com/idemgen/idemgen/idem"
)

// lazyPool connects to nothing until it is used.
func lazyPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), "postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func caller(*http.Request) (payments.Caller, error) { return payments.Caller{TenantID: "t1"}, nil }

func newPayments(t *testing.T) *payments.Service {
	t.Helper()
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	svc, err := payments.New(lazyPool(t), payments.Options{Caller: caller, Seal: seal})
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

// The service's options reach the runtime, which names what is missing.
func TestOptionsReachTheRuntime(t *testing.T) {
	_, err := payments.New(lazyPool(t), payments.Options{Caller: caller})
	if err == nil || !strings.Contains(err.Error(), "operation PlaceOrder has record=sealed, but Options.Seal is nil") {
		t.Errorf("New without a seal: %v", err)
	}
	choose := func(string) *pgxpool.Pool { return nil }
	_, err = open.New(lazyPool(t), open.Options{Pool: choose})
	if err == nil || !strings.Contains(err.Error(), "Options.Pools is empty") {
		t.Errorf("New with a choice of no pool: %v", err)
	}
	_, err = open.New(lazyPool(t), open.Options{Pools: []*pgxpool.Pool{lazyPool(t)}})
	if err == nil || !strings.Contains(err.Error(), "Options.Pool is nil") {
		t.Errorf("New with pools that nothing chooses from: %v", err)
	}
}

func TestCase_scope_3_no_caller(t *testing.T) {
	_, err := payments.New(lazyPool(t), payments.Options{})
	if err == nil || !strings.Contains(err.Error(), "Options.Caller") {
		t.Fatalf("New without a caller function: %v", err)
	}
}

func TestCallerIsOptionalWithoutScope(t *testing.T) {
	if _, err := open.New(lazyPool(t), open.Options{}); err != nil {
		t.Fatal(err)
	}
}

func TestCase_gen_1(t *testing.T) {
	opts := names.Options{Caller: func(*http.Request) (names.Caller, error) { return names.Caller{}, nil }}
	if _, err := names.New(lazyPool(t), opts); err != nil {
		t.Fatal(err)
	}
}

func routes(t *testing.T, r chi.Routes) []string {
	t.Helper()
	var out []string
	err := chi.Walk(r, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		out = append(out, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMountAll(t *testing.T) {
	r := chi.NewRouter()
	if err := newPayments(t).Mount(r); err != nil {
		t.Fatal(err)
	}
	if got := routes(t, r); len(got) != 7 {
		t.Errorf("routes: %v", got)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("POST", "/v1/payments", strings.NewReader("{}")))
	if w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("a request without a media type reached no operation: %d", w.Code)
	}
}

func TestMountSome(t *testing.T) {
	svc, r := newPayments(t), chi.NewRouter()
	if err := svc.Mount(r.With(func(h http.Handler) http.Handler { return h }), payments.PutCustomer); err != nil {
		t.Fatal(err)
	}
	if got := routes(t, r); len(got) != 1 || got[0] != "PUT /v1/customers/{id}" {
		t.Errorf("routes: %v", got)
	}
	if err := svc.Mount(r, payments.PutCustomer); err == nil {
		t.Error("the same route was mounted twice")
	}
}

func TestMountRefuses(t *testing.T) {
	tests := []struct {
		name, taken string
		ops         []idem.Name
		want        string
	}{
		{"a route that exists", "/v1/customers/{id}", nil, "PUT /v1/customers/{id}"},
		{"the same under another parameter name", "/v1/customers/{customer}", nil, "PUT /v1/customers/{id}"},
		{"an unknown operation", "/other", []idem.Name{payments.PutCustomer, "Nope"}, `no operation "Nope"`},
		{"an operation named twice", "/other", []idem.Name{payments.PutCustomer, payments.PutCustomer}, "already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := chi.NewRouter()
			r.Put(tt.taken, func(http.ResponseWriter, *http.Request) {})
			err := newPayments(t).Mount(r, tt.ops...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := routes(t, r); len(got) != 1 {
				t.Errorf("a refused Mount left routes: %v", got)
			}
		})
	}
}
