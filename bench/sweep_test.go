package main

import (
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// sweep-1, in short: expired keys go, those that live stay, and no request beside
// the sweeper fails. How long requests take is what `bench -sweep 2000000` says.
func TestCase_sweep_1(t *testing.T) {
	url := idemtest.URL(t, "DROP SCHEMA idem CASCADE")
	if err := migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	b, err := sweepBeside(t.Context(), url, options{clients: 4, slice: 20 * time.Millisecond, sweep: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if b.expired != 20_000 || b.swept.Keys != 20_000 || b.left != 0 || b.live != 2_000 || b.swept.Overdue != 0 {
		t.Errorf("%+v of %d, %d and %d are left", b.swept, b.expired, b.left, b.live)
	}
	if b.swept.Rounds < 22 || b.took <= 0 { // a batch that is too slow is tried again by halves
		t.Errorf("%d rounds in %s", b.swept.Rounds, b.took)
	}
	if len(b.without) == 0 || len(b.with) == 0 {
		t.Errorf("%d and %d requests", len(b.without), len(b.with))
	}
}

func TestLatencies(t *testing.T) {
	var l latencies
	for i := range 100 {
		l = append(l, time.Duration(100-i))
	}
	unsorted := slices.Clone(l)
	if l.at(0.5) != 51 || l.at(0.99) != 100 || l.at(1) != 100 || latencies(nil).at(0.5) != 0 || !slices.Equal(l, unsorted) {
		t.Errorf("%d %d %d", l.at(0.5), l.at(0.99), l.at(1))
	}
}
