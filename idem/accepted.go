package idem

import (
	"encoding/json"
	"time"
)

// Accepted is the answer to a request of an async operation: it is written down,
// and will be done.
type Accepted struct {
	EventID string `json:"event_id"` // a UUID, what to ask the status for
}

// AsyncState is how far an async operation has come.
type AsyncState string

// The states of async operations.
const (
	AsyncQueued  AsyncState = "queued"  // nobody works at it, until its next try at the latest
	AsyncRunning AsyncState = "running" // a worker has it
	AsyncDone    AsyncState = "done"    // it has succeeded
	AsyncFailed  AsyncState = "failed"  // it was refused, or given up
)

// AsyncStatus is how an async operation stands.
type AsyncStatus struct {
	EventID   string         `json:"event_id"`
	Status    AsyncState     `json:"status"`
	CreatedAt time.Time      `json:"created_at"`
	Response  *AsyncResponse `json:"response,omitempty"` // what was recorded, nil before
}

// AsyncResponse is the recorded response of an async operation.
type AsyncResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is JSON as it was recorded; absent where it was not stored
	// (record=none), or there is none.
	Body json.RawMessage `json:"body,omitempty"`
}
