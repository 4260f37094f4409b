package wire

import (
	"sync"
	"time"
)

// Moment is when, at a message, something happens.
type Moment int

// The moments. Inside is when half of the message's bytes were sent on.
const (
	Before Moment = iota
	Inside
	After
)

// Fault is what happens to one connection, at the first message that it fits.
type Fault struct {
	At   func(Message) bool
	When Moment
	// Delay holds up the message and what follows in its direction. Zero: the
	// connection is cut, at both ends.
	Delay time.Duration
	// Silent, with Delay: what the message's direction carries until the end of the
	// delay is lost, and then the connection is cut. Nobody is told before.
	Silent bool
}

// armed are the faults that wait for their message.
type armed struct {
	mu     sync.Mutex
	faults []*pending
}

type pending struct {
	Fault
	fired chan struct{}
}

// Arm waits for the first message, on any connection, that a fault fits. The
// channel is closed as soon as the fault happens.
func (a *armed) Arm(f Fault) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := &pending{Fault: f, fired: make(chan struct{})}
	a.faults = append(a.faults, p)
	return p.fired
}

// Disarm forgets the faults that have not happened.
func (a *armed) Disarm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = nil
}

// take gives the first fault that fits to one connection.
func (a *armed) take(m Message) *Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range a.faults {
		if p.At(m) {
			a.faults = append(a.faults[:i:i], a.faults[i+1:]...)
			close(p.fired)
			return &p.Fault
		}
	}
	return nil
}
