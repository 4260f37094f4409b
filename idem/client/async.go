package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Accepted is the answer to a request of an async operation: it is written down,
// and will be done.
type Accepted struct {
	EventID string `json:"event_id"` // a UUID, what to ask the status for
}

// AsyncState is how far a request of an async operation has come.
type AsyncState string

// The states of requests of async operations.
const (
	AsyncQueued  AsyncState = "queued"  // nobody works at it, until its next try at the latest
	AsyncRunning AsyncState = "running" // somebody does, or an operator has to decide
	AsyncDone    AsyncState = "done"    // it has succeeded
	AsyncFailed  AsyncState = "failed"  // it was refused, or given up
)

// AsyncStatus is how a request of an async operation stands; T is what the
// operation answers when it is done.
type AsyncStatus[T any] struct {
	EventID   string         `json:"event_id"`
	Status    AsyncState     `json:"status"`
	CreatedAt time.Time      `json:"created_at"`
	Response  *AsyncResponse `json:"response"` // what was recorded, nil before

	operation string
}

// AsyncResponse is the recorded response of an async operation.
type AsyncResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"` // nil where it was not stored, or there is none
}

// ErrUnfinished says that a request of an async operation has not ended yet.
var ErrUnfinished = errors.New("client: the operation has not ended yet")

// Result is what the operation has answered: nil where that has no body, a
// [*Problem] where it has failed, ErrUnfinished where it has not ended.
func (s *AsyncStatus[T]) Result() (*T, error) {
	switch {
	case s.Status != AsyncDone && s.Status != AsyncFailed || s.Response == nil:
		return nil, ErrUnfinished
	case s.Response.Status >= 400:
		return nil, s.problem()
	case len(s.Response.Body) == 0:
		return nil, nil
	}
	var out *T
	if err := json.Unmarshal(s.Response.Body, &out); err != nil {
		return nil, &Error{Operation: s.operation, Err: fmt.Errorf("client: the recorded response can't be read: %w", err)}
	}
	return out, nil
}

// problem is the recorded refusal. Nothing that is sent again changes it.
func (s *AsyncStatus[T]) problem() *Problem {
	header := http.Header{}
	for name, value := range s.Response.Headers {
		header.Set(name, value)
	}
	return readProblem(s.operation, s.Response.Status, header, s.Response.Body)
}

// Status asks for the status of a request of an async operation: call is GET of
// its path with the event behind it. An event that is not the caller's, or whose
// record has expired, is a [*Problem] with code event-unknown.
func Status[T any](ctx context.Context, c *Client, call Call) (*AsyncStatus[T], error) {
	status := &AsyncStatus[T]{operation: call.Operation}
	call.Returns = true
	if _, err := c.Call(ctx, call, status); err != nil {
		return nil, err
	}
	return status, nil
}

// firstPoll is the wait before the status is asked for a second time; it doubles
// from then on, up to the longest wait between two tries.
const firstPoll = 100 * time.Millisecond

// Await asks for the status until the request has ended or ctx has, and gives its
// [AsyncStatus.Result]. Where an operator has to decide, only ctx bounds the time.
func Await[T any](ctx context.Context, c *Client, call Call) (*T, error) {
	for wait := firstPoll; ; wait = min(2*wait, lastWait) {
		status, err := Status[T](ctx, c, call)
		if err != nil {
			return nil, err
		}
		if out, err := status.Result(); !errors.Is(err, ErrUnfinished) {
			return out, err
		}
		if err := c.pause(ctx, wait); err != nil {
			return nil, &Error{Operation: call.Operation, Unknown: true, Err: err}
		}
	}
}

// pause waits, less up to a quarter at random, no longer than ctx does.
func (c *Client) pause(ctx context.Context, wait time.Duration) error {
	over := make(chan struct{})
	stop := c.o.Clock.AfterFunc(wait-rand.N(wait/4), func() { close(over) })
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		stop()
		return fmt.Errorf("client: %w", context.Cause(ctx))
	}
}
