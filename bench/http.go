package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxBody is what handlers by hand read at most.
const maxBody = 1 << 20

// payment is the body of a request.
type payment struct {
	OrderID string `json:"order_id"`
	Amount  int64  `json:"amount"`
}

// insertByHand is the handler that one writes with net/http: it refuses what it
// does not know, and has insert do the rest.
func insertByHand(insert func(ctx context.Context, in payment, key string) ([]byte, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /payments", func(w http.ResponseWriter, r *http.Request) {
		var in payment
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			http.Error(w, "not the JSON of a payment", http.StatusBadRequest)
			return
		}
		if in.OrderID == "" || in.Amount <= 0 {
			http.Error(w, "order_id and a positive amount are required", http.StatusUnprocessableEntity)
			return
		}
		body, err := insert(r.Context(), in, strings.Trim(r.Header.Get("Idempotency-Key"), `"`))
		if err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		answer(w, http.StatusCreated, body)
	})
	return mux
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // to whom it went away there is nothing to say
}

func pathID(r *http.Request) (int64, error) { return strconv.ParseInt(r.PathValue("id"), 10, 64) }

// bodyOf is the body of a request.
func bodyOf(r request) []byte {
	body := append([]byte(`{"order_id":"`), r.order...)
	body = append(body, `","amount":`...)
	return append(strconv.AppendInt(body, amount, 10), '}')
}

// post sends a request to a handler, without a socket.
func post(ctx context.Context, h http.Handler, r request) error {
	return send(ctx, h, http.MethodPost, "/payments", bytes.NewReader(bodyOf(r)), r.key, http.StatusCreated)
}

func send(ctx context.Context, h http.Handler, method, path string, body io.Reader, key string, want int) error {
	r, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	w := &writer{header: http.Header{}}
	h.ServeHTTP(w, r)
	if w.status != want {
		return fmt.Errorf("%s answered %d: %s", path, w.status, w.body.Bytes())
	}
	return nil
}

// writer keeps an answer.
type writer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// reader asks a handler for payments that are there, the oldest ones in turn: as
// many as a client of replays has keys.
func reader(pool *pgxpool.Pool, h http.Handler) func(context.Context, request) error {
	var first atomic.Int64
	return func(ctx context.Context, r request) error {
		id := first.Load()
		if id == 0 {
			if err := pool.QueryRow(ctx, "SELECT min(id) FROM payments").Scan(&id); err != nil {
				return err
			}
			first.Store(id)
		}
		path := "/payments/" + strconv.FormatInt(id+r.number%known, 10)
		return send(ctx, h, http.MethodGet, path, http.NoBody, "", http.StatusOK)
	}
}
