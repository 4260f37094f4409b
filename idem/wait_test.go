package idem

import (
	"context"
	"testing"
	"time"
)

// Above the bound of a scope nobody waits; other scopes do.
func TestWaitingIsBoundedPerScope(t *testing.T) {
	f := newFlights()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, b := identity{"a", "1"}, identity{"b", "1"}
	leaveA, _ := f.enter(ctx, a, 0)
	leaveB, _ := f.enter(ctx, b, 0)
	results := make(chan bool)
	for range maxWaiting + 1 {
		go func() {
			leave, ok := f.enter(ctx, a, time.Minute)
			if ok {
				leave()
			}
			results <- ok
		}()
	}
	if ok := <-results; ok { // one too many: it is told at once
		t.Error("entered while another runs")
	}
	entered := make(chan bool)
	go func() {
		leave, ok := f.enter(ctx, b, time.Minute)
		if ok {
			leave()
		}
		entered <- ok
	}()
	leaveB()
	if !<-entered {
		t.Error("another scope was refused")
	}
	leaveA()
	for range maxWaiting {
		if !<-results {
			t.Error("a waiter was refused")
		}
	}
	if len(f.running) != 0 || len(f.waiting) != 0 {
		t.Errorf("left: %v %v", f.running, f.waiting)
	}
}
