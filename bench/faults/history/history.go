// Package history records what clients sent to a service and what it answered,
// and judges it, together with what was done in the end, by what
// docs/semantics.md promises.
package history

import (
	"sync"
	"time"
)

// Identity is what a service knows a request by.
type Identity struct{ Scope, Operation, Key string }

// Request is one request and what became of it.
type Request struct {
	Identity
	// Reference names the payload. It is used for no other payload or identity,
	// and is found in what the request does and in its answer.
	Reference      string
	Invoke, Return time.Duration // since the history began
	// Status is 0 where no answer came: nobody knows what happened.
	Status   int
	Replayed bool // the answer said so
	Headers  string
	Body     string
	// Afterwards is true for requests sent when all faults were over and
	// every key had been answered: they have to be replays.
	Afterwards bool
}

// Effect is what one place of the world has of one reference in the end: rows
// of a table, or different keys that another system was called with.
type Effect struct {
	Place, Scope, Reference string
	Count                   int
}

// Recorder collects requests. It is safe for concurrent use.
type Recorder struct {
	began time.Time

	mu       sync.Mutex
	requests []Request
	waiting  []waiter
}

type waiter struct {
	left    int
	fits    func(Request) bool
	reached chan struct{}
}

// NewRecorder begins a history.
func NewRecorder() *Recorder { return &Recorder{began: time.Now()} }

// Now is the time of the history.
func (r *Recorder) Now() time.Duration { return time.Since(r.began) }

// Add records a request that has returned.
func (r *Recorder) Add(q Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q)
	kept := r.waiting[:0]
	for _, w := range r.waiting {
		if w.fits(q) {
			w.left--
		}
		if w.left > 0 {
			kept = append(kept, w)
		} else {
			close(w.reached)
		}
	}
	r.waiting = kept
}

// More is closed when n more requests have returned.
func (r *Recorder) More(n int) <-chan struct{} {
	return r.MoreThat(n, func(Request) bool { return true })
}

// MoreThat is closed when n more requests that fit have returned.
func (r *Recorder) MoreThat(n int, fits func(Request) bool) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	reached := make(chan struct{})
	if n <= 0 {
		close(reached)
		return reached
	}
	r.waiting = append(r.waiting, waiter{n, fits, reached})
	return reached
}

// Requests are all that were recorded.
func (r *Recorder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}
