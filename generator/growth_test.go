package generator

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// prepared is a service of this many tables, three operations each, generated
// once, with what --no-sqlc needs.
func prepared(t testing.TB, tables int) Options {
	t.Helper()
	dir := t.TempDir()
	bigService(t, dir, tables)
	opts := Options{Dir: dir}
	if _, err := Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	sqlc := exec.Command("go", "run", sqlcrun.Pinned, "generate")
	sqlc.Dir = dir
	if out, err := sqlc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	opts.NoSqlc = true
	return opts
}

// cost is what a run takes that does not depend on the machine's load: objects
// and bytes allocated. The time is for people.
type cost struct {
	objects, bytes uint64
	time           time.Duration
}

func measure(t *testing.T, opts Options, operations int) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	result, err := Run(t.Context(), opts)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if result.Drift() || len(result.Operations) != operations {
		t.Fatalf("drift %v, %d operations", result.Drift(), len(result.Operations))
	}
	return cost{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc, took}
}

// TestGenerationGrowsLinearly: 1,000 operations take at most 12 times what 100 do.
func TestGenerationGrowsLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc on 1,000 queries")
	}
	small, big := prepared(t, 33), prepared(t, 330)
	measure(t, small, 99) // what is made once
	a, b := measure(t, small, 99), measure(t, big, 990)
	t.Logf("99 operations: %+v; 990: %+v", a, b)
	if b.objects > 12*a.objects || b.bytes > 12*a.bytes {
		t.Errorf("990 operations take %.1f times the objects and %.1f times the bytes of 99; want at most 12",
			float64(b.objects)/float64(a.objects), float64(b.bytes)/float64(a.bytes))
	}
	// Time is the promise, but other programs run here too: the best of three
	// on each side, and far beyond what linear growth could be.
	for range 2 {
		a.time, b.time = min(a.time, measure(t, small, 99).time), min(b.time, measure(t, big, 990).time)
	}
	if b.time > 30*a.time {
		t.Errorf("990 operations take %s, 99 take %s", b.time, a.time)
	}
}

// TestOneFileOf5000Lines: many queries in one file, and an error in the last of
// them has its place.
func TestOneFileOf5000Lines(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	dir := small(t)
	var queries strings.Builder
	for i := 0; strings.Count(queries.String(), "\n") < 5000; i++ {
		fmt.Fprintf(&queries, "-- name: AddThing%d :one\n-- Add one, by way %d.\n-- @http POST /v1/things/%d\n-- @intent things (tenant_id, name)\nINSERT INTO things (tenant_id, name)\nVALUES (@tenant_id,\n  @name)\nRETURNING\n  id;\n\n", i, i, i)
	}
	text := queries.String()
	put(t, filepath.Join(dir, "q/things.sql"), text)
	result, err := Run(t.Context(), Options{Dir: dir})
	if err != nil || len(result.Operations) != 500 {
		t.Fatalf("%v", err)
	}
	at := strings.LastIndex(text, "@intent")
	put(t, filepath.Join(dir, "q/things.sql"), text[:at]+"@intnet"+text[at+len("@intent"):])
	_, err = Run(t.Context(), Options{Dir: dir})
	if want := fmt.Sprintf("q/things.sql:%d:4: ", strings.Count(text[:at], "\n")+1); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want it at %s", err, want)
	}
}
