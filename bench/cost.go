package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// costs are what a request of one cell took from this process, by round.
type costs struct {
	cell
	trips, allocations, cpu []float64 // cpu in microseconds
}

// costGroup counts what one request costs apart from the servers: round trips,
// allocations, and CPU time of this process. One client, so that nothing else counts.
func costGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "cost")
	if err != nil {
		return nil, err
	}
	f, err := newField(ctx, b.place(url, setting{0, 1}))
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // nothing of it is wanted any more
	cells, err := f.cells(ctx, f.all, 1)
	if err != nil {
		return nil, err
	}
	var all []*costs
	for _, c := range cells {
		if c.traffic.name != duplicates.name {
			all = append(all, &costs{cell: c})
		}
	}
	for round := range b.costRounds {
		for i := range all {
			if err := all[(i+round)%len(all)].count(ctx, f.wire, b.costRequests); err != nil {
				return nil, err
			}
		}
	}
	b.costFigures(all)
	return &section{title: "What one request costs the service", text: costText(all)}, nil
}

// count is one round.
func (c *costs) count(ctx context.Context, w *wire, requests int) error {
	var before, after runtime.MemStats
	next := c.traffic.client(0)
	trips := w.trips.Load()
	runtime.ReadMemStats(&before)
	began, err := processTime()
	if err != nil {
		return err
	}
	for range requests {
		if err := c.run(ctx, next()); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	ended, err := processTime()
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	per := func(n float64) float64 { return n / float64(requests) }
	c.trips = append(c.trips, per(float64(w.trips.Load()-trips)))
	c.allocations = append(c.allocations, per(float64(after.Mallocs-before.Mallocs)))
	c.cpu = append(c.cpu, per(float64((ended-began).Nanoseconds())/1000))
	return nil
}

// processTime is the CPU time of this process so far: the servers are others.
func processTime() (time.Duration, error) {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0, err
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), nil
}

func costOf(all []*costs, name, kind string) *costs {
	for _, c := range all {
		if c.name == name && c.traffic.name == kind {
			return c
		}
	}
	return nil
}

// costFigures compare the emitted handler with one by hand that sends the very same
// statement, so that both ask the same of the database and of the driver.
func (b *bench) costFigures(all []*costs) {
	own, hand := costOf(all, overHTTP, newKeys.name), costOf(all, sameByHand, newKeys.name)
	bare := costOf(all, bareHTTP, newKeys.name)
	b.found(figureHandlerTime, median(differences(own.cpu, hand.cpu)),
		fmt.Sprintf("beyond the bare INSERT: %.1f µs", median(differences(own.cpu, bare.cpu))))
	b.found(figureHandlerAllocations, math.Round(median(differences(own.allocations, hand.allocations))),
		fmt.Sprintf("beyond the bare INSERT: %.0f", median(differences(own.allocations, bare.allocations))))
}

// differences are of the same round each.
func differences(values, from []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		out[i] = values[i] - from[i]
	}
	return out
}

func costText(all []*costs) string {
	var t strings.Builder
	t.WriteString("One client, local. Round trips are counted on the wire, to PostgreSQL and to Redis. Allocations and CPU time are those of the " +
		"process with the handler and the driver, not of the servers; those over HTTP include making the request and taking the answer.\n\n" +
		"| | round trips: new | replay | allocations: new | replay | CPU: new | replay |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range all {
		if c.traffic.name == kindOfReplays && !c.reads {
			continue // beside its new keys
		}
		fresh, old := costOf(all, c.name, newKeys.name), costOf(all, c.name, kindOfReplays)
		fmt.Fprintf(&t, "| %s |", c.name)
		for _, pick := range []struct {
			format string
			of     func(*costs) []float64
		}{
			{"%.0f", func(c *costs) []float64 { return c.trips }},
			{"%.0f", func(c *costs) []float64 { return c.allocations }},
			{"%.0f µs", func(c *costs) []float64 { return c.cpu }},
		} {
			for _, one := range []*costs{fresh, old} {
				if one == nil {
					t.WriteString(" |")
					continue
				}
				fmt.Fprintf(&t, " "+pick.format+" |", median(pick.of(one)))
			}
		}
		t.WriteString("\n")
	}
	return t.String()
}
