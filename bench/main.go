// Command bench compares idemgen with what one would write instead, all in one
// run on one server: only ratios of one run mean anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

//go:generate go run github.com/idemgen/idemgen/cmd/idemgen generate

// options are the command line.
type options struct {
	clients int
	rounds  int
	slice   time.Duration
	durable bool
	sweep   int
	outbox  int
	quick   bool
	groups  string
	report  string
	keys    int
}

func main() {
	o := options{}
	flag.BoolVar(&o.quick, "quick", false, "every wanted figure in about two minutes, with fewer rounds, settings and keys")
	flag.StringVar(&o.groups, "groups", "", "measure only these, separated by commas: "+strings.Join(groupNames(), ", "))
	flag.StringVar(&o.report, "report", "", "write the report into this Markdown file, between its markers, and the plots into a folder named like it; wants all groups")
	flag.IntVar(&o.keys, "keys", 0, "keys in the big table of the group keys (10,000,000; -quick: 500,000)")
	flag.IntVar(&o.rounds, "rounds", 0, "interleaved rounds at the settings of the wanted figures (13; -quick: 7)")
	flag.DurationVar(&o.slice, "slice", 0, "time of one contender in one round (100ms; -quick: 50ms; -sweep: 250ms)")
	flag.BoolVar(&o.durable, "durable", true, "the server syncs each commit to disk, as in production")
	flag.IntVar(&o.clients, "clients", 8, "requests at once, of -sweep and -outbox")
	flag.IntVar(&o.sweep, "sweep", 0, "compare the latency of requests with and without a sweeper that deletes this many expired keys, and nothing else")
	flag.IntVar(&o.outbox, "outbox", 0, "write and deliver this many events with idemgen's outbox and with River, and nothing else")
	flag.Parse()
	if err := run(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures what the command line asks for, and prints it.
func run(ctx context.Context, o options, out io.Writer) error {
	e := full
	if o.quick {
		e = quick
	}
	e = e.with(o)
	chosen, err := chooseGroups(o)
	if err != nil {
		return err
	}
	b, err := open(ctx, e, o.durable)
	if err != nil {
		return err
	}
	defer b.close()
	switch {
	case o.outbox > 0:
		return b.alone(out, func() (*section, error) { return outboxGroup(ctx, b) })
	case o.sweep > 0:
		return b.alone(out, func() (*section, error) { return sweepGroup(ctx, b) })
	}
	sections, err := b.measureAll(ctx, chosen)
	if err != nil {
		return err
	}
	fmt.Fprint(out, document(b, sections))
	if o.report == "" {
		return nil
	}
	return writeReport(o.report, b, sections)
}

// alone prints one section.
func (b *bench) alone(out io.Writer, measure func() (*section, error)) error {
	s, err := measure()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n%s\n", b.setting, s.text)
	return nil
}

// chooseGroups are those that -groups names, else all.
func chooseGroups(o options) ([]group, error) {
	if o.groups == "" {
		if o.quick {
			return wantedGroups(), nil
		}
		return groups, nil
	}
	if o.report != "" {
		return nil, errors.New("-report writes the whole report: leave -groups out")
	}
	var chosen []group
	for _, name := range strings.Split(o.groups, ",") {
		g, ok := groupNamed(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("there is no group %q; there are %s", name, strings.Join(groupNames(), ", "))
		}
		chosen = append(chosen, g)
	}
	return chosen, nil
}
