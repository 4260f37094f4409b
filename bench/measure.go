package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// measure is requests per second of one contender in one slice of time.
func measure(ctx context.Context, c contender, t traffic, o options) (float64, error) {
	var (
		wg       sync.WaitGroup
		done     atomic.Int64
		failed   atomic.Pointer[error]
		start    = time.Now()
		deadline = start.Add(o.slice)
	)
	for client := range o.clients {
		next := t.client(client)
		wg.Go(func() {
			for once := true; (once || time.Now().Before(deadline)) && failed.Load() == nil; once = false {
				if err := c.run(ctx, next()); err != nil {
					err = fmt.Errorf("%s: %w", c.name, err)
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// cell is one contender under one kind of traffic.
type cell struct {
	contender
	traffic traffic
}

// rates are those of cells, by round. The cells of one round ran right behind each
// other, so only what is in the same round is compared.
type rates struct {
	cells []cell
	by    [][]float64
}

// interleave measures every cell in each round, in turn, and does not count the
// first round.
func interleave(ctx context.Context, cells []cell, o options) (*rates, error) {
	r := &rates{cells: cells, by: make([][]float64, len(cells))}
	for round := range o.rounds + 1 {
		for i := range cells {
			at := (i + round) % len(cells)
			rate, err := measure(ctx, cells[at].contender, cells[at].traffic, o)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				r.by[at] = append(r.by[at], rate)
			}
		}
	}
	return r, nil
}

// of are the rates of a contender under a kind of traffic, nil where it was not
// measured.
func (r *rates) of(name, traffic string) []float64 {
	at := slices.IndexFunc(r.cells, func(c cell) bool { return c.name == name && c.traffic.name == traffic })
	if at < 0 {
		return nil
	}
	return r.by[at]
}

// ratio is the median of the rounds' ratios of two contenders, NaN where one was not
// measured.
func (r *rates) ratio(name, to, traffic string) float64 {
	a, b := r.of(name, traffic), r.of(to, traffic)
	if a == nil || b == nil {
		return math.NaN()
	}
	return median(ratios(a, b))
}

// ratios are of the same round each: what else the machine does changes from round
// to round.
func ratios(rates, to []float64) []float64 {
	out := make([]float64, len(rates))
	for i := range rates {
		out[i] = rates[i] / to[i]
	}
	return out
}

func median(v []float64) float64 {
	sorted := slices.Clone(v)
	slices.SortFunc(sorted, cmp.Compare[float64])
	return sorted[len(sorted)/2]
}
