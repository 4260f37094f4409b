package idem

import (
	"sync"
	"time"
)

// tally counts work in flight. Unlike a WaitGroup, it may be waited for while
// work still arrives.
type tally struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (t *tally) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// wait returns at the first moment without work, or after the given time: then
// with the number of those still at it.
func (t *tally) wait(atMost time.Duration) int {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return 0
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-idle:
		return 0
	case <-timer.C:
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.n
	}
}
