package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// The test binary is the service too, where its environment says so.
func TestMain(m *testing.M) {
	if os.Getenv(envDatabase) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "service:", err)
			os.Exit(1)
		}
		return
	}
	idemtest.Main(m)
}

// first are kinds whose traces (leases of a process that is gone) need time to
// heal, so they come first; then come rest, in turn.
var (
	first = []string{"service killed", "server stopped at once", "service killed"}
	rest  = []string{
		"cut before what commits", "committed, and cut before", "cut right after", "cut in the middle",
		"cut before, in or after any", "what commits, or its answer, delayed", "backend terminated",
	}
)

// Every promise holds under some dozens of faults of many kinds, one after the
// other in one world.
func TestNoFaultBreaksAPromise(t *testing.T) {
	t.Parallel()
	all := kind{name: "all", pace: 4}
	var list []kind
	if !testing.Short() { // their leases end after half a minute
		for _, name := range first {
			list = append(list, kindOf(t, name))
		}
	}
	for range 6 {
		for _, name := range rest {
			list = append(list, kindOf(t, name))
		}
	}
	all.inject = func(ctx context.Context, f *injection) error { return list[f.number].inject(ctx, f) }
	holds(t, all, len(list))
}

// So they do where PgBouncer, in transaction mode, is restarted.
func TestARestartOfPgBouncerBreaksNoPromise(t *testing.T) {
	t.Parallel()
	holds(t, kindOf(t, "PgBouncer (transaction mode) restarted"), 2)
}

// holds injects faults and fails with every broken promise.
func holds(t *testing.T, k kind, faults int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	r, err := campaign(ctx, k, faults, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.skipped != "" {
		t.Skip(r.skipped)
	}
	if r.injected != faults || r.requests < faults*k.pace {
		t.Errorf("%d faults and %d requests", r.injected, r.requests)
	}
	for _, v := range r.violations {
		t.Error(v)
	}
}

func kindOf(t *testing.T, name string) kind {
	t.Helper()
	for _, k := range kinds() {
		if strings.Contains(k.name, name) {
			return k
		}
	}
	t.Fatalf("there is no kind %q", name)
	return kind{}
}

// What the harness looks for it finds: a row that appears twice behind the back of
// the service, a record that is deleted, a row in another scope, an acknowledged
// row that is gone.
func TestDamageDoneToTheDatabaseIsFound(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	w, err := newWorld(ctx, setting{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	l := startLoad(ctx, w, 4, 1)
	defer l.stop()
	<-w.recorder.More(60)
	l.settle()
	err = w.cluster.execute(ctx,
		"INSERT INTO effects (tenant_id, reference) SELECT tenant_id, reference FROM effects WHERE reference = 'ref-8-1'",
		"DELETE FROM effects WHERE reference = 'ref-9-1'",
		"UPDATE effects SET tenant_id = 'scope-a' WHERE reference = 'ref-10-1'",
		"DELETE FROM idem.keys WHERE operation = 'faults.Fuse' AND (scope, key) IN (SELECT 'scope-d', 'key-2')",
	)
	if err != nil {
		t.Fatal(err)
	}
	l.repeat(4)
	requests := w.recorder.Requests()
	effects, err := w.effects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found := map[history.Kind]bool{}
	for _, v := range history.Check(requests, history.World{Operations: operations, Scopes: scopes, Effects: effects}) {
		found[v.Kind] = true
		if v.On.Key != "key-2" {
			t.Errorf("nothing was done to it: %s", v)
		}
	}
	for _, kind := range []history.Kind{history.Double, history.Lost, history.Differing, history.Crossed} {
		if !found[kind] {
			t.Errorf("%s is not found", kind)
		}
	}
}

// Kinds have names that tell them apart and shares that add up.
func TestEveryKindHasItsShare(t *testing.T) {
	sum, names := 0, map[string]bool{}
	for _, k := range kinds() {
		if names[k.name] {
			t.Errorf("%s is there twice", k.name)
		}
		names[k.name] = true
		sum += k.share
	}
	if sum < 10_000 {
		t.Errorf("of 10,000 faults %d are injected", sum)
	}
}

// The report is a table of zeros where all held, and says where not.
func TestReport(t *testing.T) {
	var out strings.Builder
	fine := result{name: "a cut", injected: 3, requests: 20, keys: 9}
	if !report(&out, []result{fine, {name: "b", skipped: "not\n here\n"}}) {
		t.Error("it did not hold")
	}
	for _, line := range []string{
		"| a cut | 3 | 20 | 9 | 0 | 0 | 0 | 0 | 0 | 0 |\n", "| b | skipped: not here |\n", "| all | 3 | 20 | 9 | 0 | 0 | 0 | 0 | 0 | 0 |\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in:\n%s", line, &out)
		}
	}
	out.Reset()
	fine.violations = []history.Violation{{Kind: history.Lost}}
	if report(&out, []result{fine}) || !strings.Contains(out.String(), "| 9 | 0 | 1 | 0 |") {
		t.Errorf("it held:\n%s", &out)
	}
}

// The clock that is built into a service is the one of this Go, with a step.
func TestTheClockIsStepped(t *testing.T) {
	source := "import (\n\t\"errors\"\n)\n\nfunc Now() Time {\n\tsec, nsec, mono := runtimeNow()\n}\n"
	stepped, err := steppedTime(source)
	if err != nil || !strings.Contains(stepped, "runtimeNow()\n\tsec += Step.Load()\n") {
		t.Errorf("%v:\n%s", err, stepped)
	}
	if _, err := steppedTime("func Now() Time { return x }"); err == nil {
		t.Error("another time.Now is taken for this one")
	}
}
