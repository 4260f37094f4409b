package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
)

// result is what came of one kind of fault.
type result struct {
	name       string
	skipped    string // why nothing was injected
	injected   int
	requests   int
	keys       int
	violations []history.Violation
	took       time.Duration
}

// count is the number of violations of a kind.
func (r result) count(kind history.Kind) (n int) {
	for _, v := range r.violations {
		if v.Kind == kind {
			n++
		}
	}
	return n
}

const workers = 16

// campaign injects so many faults of one kind into a world of its own, lets it
// come to rest, repeats all that was acknowledged, and judges.
func campaign(ctx context.Context, k kind, faults int, seed uint64) (r result, err error) {
	r.name = k.name
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	if k.absent != nil {
		if r.skipped = k.absent(); r.skipped != "" {
			return r, nil
		}
	}
	if k.clock {
		dir, err := os.MkdirTemp("", "idemgen-clock-")
		if err != nil {
			return r, err
		}
		defer os.RemoveAll(dir)
		if k.world.program, err = buildStepped(ctx, dir); err != nil {
			r.skipped = err.Error()
			return r, nil
		}
	}
	w, err := newWorld(ctx, k.world)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	l := startLoad(ctx, w, workers, seed)
	defer l.stop()
	if r.injected, err = injectAll(ctx, k, w, faults, seed); err != nil {
		return r, fmt.Errorf("fault %d: %w", r.injected+1, err)
	}
	err = r.judge(ctx, w, l)
	return r, err
}

// injectAll injects faults one after the other, with requests between them.
func injectAll(ctx context.Context, k kind, w *world, faults int, seed uint64) (injected int, err error) {
	f := &injection{w: w, random: rand.New(rand.NewPCG(seed, 1))}
	for ; f.number < faults; f.number++ {
		if err := f.progress(ctx, k.pace); err != nil {
			return f.number, err
		}
		if err := k.inject(ctx, f); err != nil {
			return f.number, err
		}
	}
	return f.number, f.progress(ctx, k.pace)
}

// judge waits for rest, and checks the history.
func (r *result) judge(ctx context.Context, w *world, l *load) error {
	w.proxy.Disarm()
	l.settle()
	l.repeat(workers)
	requests := w.recorder.Requests()
	effects, err := w.rest(ctx, requests)
	if err != nil {
		return err
	}
	r.requests, r.keys = len(requests), int(l.next.Load())
	r.violations = history.Check(requests, history.World{Operations: operations, Scopes: scopes, Effects: effects})
	return nil
}

// rest is the effects, as soon as those that come later (events, async work) are
// there, or when the patience with them has ended.
func (w *world) rest(ctx context.Context, requests []history.Request) ([]history.Effect, error) {
	deadline := time.Now().Add(patience)
	for {
		effects, err := w.effects(ctx)
		if err != nil || allThere(requests, effects) || time.Now().After(deadline) {
			return effects, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// allThere reports whether each acknowledged success has its effects.
func allThere(requests []history.Request, effects []history.Effect) bool {
	type at struct{ place, reference string }
	have := map[at]bool{}
	for _, e := range effects {
		have[at{e.Place, e.Reference}] = true
	}
	for _, q := range acknowledged(requests) {
		op := operations[q.Operation]
		for _, place := range op.Places {
			if q.Status == op.Success && !have[at{place, q.Reference}] {
				return false
			}
		}
	}
	return true
}
