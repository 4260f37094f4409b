package main

import (
	"testing"
)

// No two requests have the same key, and the same number is the same request.
func TestRequestsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for n := range int64(10_000) {
		r := requestOf(n)
		if len(r.key) != 36 || seen[r.key] || r != requestOf(n) {
			t.Fatalf("number %d: %+v", n, r)
		}
		seen[r.key] = true
	}
}

// One request in ten is the one before it, once more; all others are new.
func TestDuplicatesAreOneInTen(t *testing.T) {
	next := duplicates.client(0)
	seen, repeated := map[string]int{}, 0
	last := ""
	for range 1000 {
		r := next()
		if seen[r.key]++; seen[r.key] > 1 {
			repeated++
			if r.key != last {
				t.Errorf("%s is not the one before", r.key)
			}
		}
		last = r.key
	}
	if repeated != 100 {
		t.Errorf("%d of 1000 are repeated", repeated)
	}
}

// Clients never replay each other's keys: they would wait for each other.
func TestReplaysAreOfOneClientEach(t *testing.T) {
	whose := map[string]int{}
	old := replays(1000)
	for client := range 5 {
		next := old.client(client)
		for range 3 * known {
			r := next()
			if other, ok := whose[r.key]; ok && other != client {
				t.Fatalf("clients %d and %d replay number %d", client, other, r.number)
			}
			whose[r.key] = client
		}
	}
	if len(whose) != 5*known {
		t.Errorf("%d keys", len(whose))
	}
}
