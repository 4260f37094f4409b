// Command faults breaks a service of idemgen's, its database and what is between
// them, in every way that it knows, while clients send requests with duplicates and
// mismatches; then it checks that every key had one effect and one answer. It prints
// a Markdown table, and exits with 1 where a promise was broken.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

//go:generate go run github.com/idemgen/idemgen/cmd/idemgen generate

func main() {
	if os.Getenv(envDatabase) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "service:", err)
			os.Exit(1)
		}
		return
	}
	n := flag.Int("n", 10_000, "faults, shared out among the kinds; each kind has at least one")
	only := flag.String("only", "", "only kinds whose name has this text")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of all that is left to chance, except for time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Fprintln(os.Stderr, "seed", *seed)
	held, err := run(ctx, *n, *only, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(2)
	}
	if !held {
		os.Exit(1)
	}
}

// run runs the campaigns and prints what came of them, also of those before one
// that could not be carried out. It reports whether all promises held.
func run(ctx context.Context, n int, only string, seed uint64) (held bool, err error) {
	var results []result
	for _, k := range kinds() {
		if !strings.Contains(k.name, only) {
			continue
		}
		r, err := campaign(ctx, k, max(1, n*k.share/10_000), seed)
		if err != nil {
			report(os.Stdout, results)
			return false, fmt.Errorf("%s: %w", k.name, err)
		}
		progress(os.Stderr, r)
		results = append(results, r)
	}
	return report(os.Stdout, results), nil
}
