package idem

import (
	"context"
	"sync"
	"time"
)

// maxWaiting bounds how many requests of one scope wait in memory.
const maxWaiting = 256

// flights lets one request per identity hold a connection; the others wait in
// memory, so that copies of one slow request can't take the pool.
type flights struct {
	mu      sync.Mutex
	running map[identity]*flight
	waiting map[string]int // by scope
}

// identity is what a request is told apart by: scope and digest.
type identity struct{ scope, digest string }

type flight struct {
	turn chan struct{} // holds one token while nobody runs
	refs int
}

func newFlights() *flights {
	return &flights{running: map[identity]*flight{}, waiting: map[string]int{}}
}

// enter waits for the turn of an identity, at most for the given time (0: not
// at all). Where it comes, leave must be called at the end.
func (f *flights) enter(ctx context.Context, id identity, wait time.Duration) (leave func(), ok bool) {
	fl := f.join(id)
	select {
	case <-fl.turn:
		return func() { f.leave(id, fl) }, true
	default:
	}
	if wait <= 0 || !f.mayWait(id.scope) {
		f.part(id, fl)
		return nil, false
	}
	defer f.stopWaiting(id.scope)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-fl.turn:
		return func() { f.leave(id, fl) }, true
	case <-timer.C:
	case <-ctx.Done():
	}
	f.part(id, fl)
	return nil, false
}

func (f *flights) join(id identity) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl := f.running[id]
	if fl == nil {
		fl = &flight{turn: make(chan struct{}, 1)}
		fl.turn <- struct{}{}
		f.running[id] = fl
	}
	fl.refs++
	return fl
}

func (f *flights) leave(id identity, fl *flight) {
	fl.turn <- struct{}{}
	f.part(id, fl)
}

func (f *flights) part(id identity, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl.refs--
	if fl.refs == 0 {
		delete(f.running, id)
	}
}

func (f *flights) mayWait(scope string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting[scope] >= maxWaiting {
		return false
	}
	f.waiting[scope]++
	return true
}

func (f *flights) stopWaiting(scope string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting[scope]--
	if f.waiting[scope] == 0 {
		delete(f.waiting, scope)
	}
}
