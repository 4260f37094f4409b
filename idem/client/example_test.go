package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

// flaky is a service whose first answer is lost.
func flaky() *httptest.Server {
	n := 0
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id": 42}`)
	}))
}

func ExampleClient_Do() {
	service := flaky()
	defer service.Close()
	c, err := client.New(service.URL, client.Options{MaxTries: 4, MaxElapsed: 30 * time.Second})
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequest(http.MethodPost, service.URL+"/v1/payments", strings.NewReader(`{"amount": 5}`))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Idempotency-Key", client.NewKey()) // kept with the order, in real life
	resp, meta, err := c.Do(context.Background(), req)
	if err != nil {
		panic(err)
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.StatusCode, meta.Tries, meta.Replayed)
	// Output: 201 2 true
}

func ExampleClient_Call() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"status": 409, "code": "intent-conflict", "title": "There is one", "existing": {"id": 7}}`)
	}))
	defer service.Close()
	c, err := client.New(service.URL, client.Options{})
	if err != nil {
		panic(err)
	}
	var out struct{ ID int64 }
	_, err = c.Call(context.Background(), client.Call{
		Operation: "CreatePayment", Method: http.MethodPost, Path: "/v1/payments", Keyed: true,
		Body: map[string]any{"order_id": "A-17", "amount": 5},
	}, &out)
	var problem *client.Problem
	if errors.As(err, &problem) {
		fmt.Println(problem.Status, problem.Code, problem.Retryable, string(problem.Existing))
	}
	// Output: 409 intent-conflict false {"id": 7}
}

// Every request of an http.Client is repeated where that is safe.
func ExampleNewTransport() {
	service := flaky()
	defer service.Close()
	c := &http.Client{Transport: client.NewTransport(client.Options{Observe: func(a client.Attempt) {
		fmt.Println("try", a.Number, "status", a.Status, "again", a.Retry)
	}})}
	resp, err := c.Get(service.URL)
	if err != nil {
		panic(err)
	}
	defer func() { _ = resp.Body.Close() }()
	// Output:
	// try 1 status 0 again true
	// try 2 status 201 again false
}

// An agent that restarts derives the key it had before.
func ExampleDeriveKey() {
	secret := []byte("at least 16 random bytes, kept")
	before, err := client.DeriveKey(secret, "session-1", "step-3", "create_payment", map[string]any{"order_id": "A-17", "amount": 5})
	if err != nil {
		panic(err)
	}
	after, err := client.DeriveKey(secret, "session-1", "step-3", "create_payment", json.RawMessage(`{"amount": 5.0, "order_id": "A-17"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(before == after, len(before))
	// Output: true 64
}

// An agent may word its payload anew; the step is the same.
func ExampleDeriveStepKey() {
	key, err := client.DeriveStepKey([]byte("at least 16 random bytes, kept"), "session-1", "step-3", "send_notice")
	fmt.Println(len(key), err)
	// Output: 64 <nil>
}
