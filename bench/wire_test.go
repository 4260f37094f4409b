package main

import (
	"testing"
	"time"
)

// The wire counts round trips as the strategies promise them, and holds each back.
func TestTheWireCountsRoundTrips(t *testing.T) {
	w := &wire{}
	f, _ := newTestField(t, w, false)
	wanted := map[string][2]int64{ // of a new key, and of a replay
		bareInsert: {1, 1}, oneByHand: {5, 3}, fusedCall: {1, 1}, overHTTP: {1, 1}, verbatimCall: {1, 1},
		goCall: {3, 2}, steppedCall: {4, 2}, readByHand: {1, 1}, readEmitted: {1, 1},
		fiberHTTP: {1, 0}, redisHTTP: {3, 2}, fiberRedis: {4, 1},
	}
	for _, c := range f.all {
		want, ok := wanted[c.name]
		if !ok {
			continue
		}
		if err := sendEach(t.Context(), c, newKeys, f.clients, warmUp); err != nil {
			t.Fatal(err)
		}
		r := requestOf(numbers.Add(1))
		for i, what := range []string{"a new key", "a replay"} {
			before := w.trips.Load()
			if err := c.run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if got := w.trips.Load() - before; got != want[i] {
				t.Errorf("%s, %s: %d round trips, wanted %d", c.name, what, got, want[i])
			}
		}
	}
}

// A round trip takes as long as it is said to, for PostgreSQL and for Redis.
func TestTheWireHoldsBack(t *testing.T) {
	const roundTrip = 30 * time.Millisecond
	w := &wire{}
	f, _ := newTestField(t, w, false)
	for _, c := range f.all {
		r := requestOf(numbers.Add(1))
		w.roundTrip = 0
		if err := c.run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		w.roundTrip = roundTrip
		before, began := w.trips.Load(), time.Now()
		if err := c.run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		took, trips := time.Since(began), w.trips.Load()-before
		if took < time.Duration(trips)*roundTrip {
			t.Errorf("%s: %d round trips in %s", c.name, trips, took)
		}
	}
}
