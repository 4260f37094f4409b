package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// warmUp is how many new requests each client sends before anything is measured:
// statements are prepared, and plans made for good after five executions.
const warmUp = 8

// load is what the contenders did at each setting.
type load map[setting]*rates

// loadGroup compares all contenders at every setting: new keys, replays, and a mix.
func loadGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "load")
	if err != nil {
		return nil, err
	}
	all := load{}
	for _, s := range append([]setting{near, far}, b.settings...) {
		rounds := b.others
		if s == near || s == far {
			rounds = b.rounds
		}
		if all[s], err = b.loadAt(ctx, url, s, rounds); err != nil {
			return nil, fmt.Errorf("%s, %d clients: %w", s.roundTrip, s.clients, err)
		}
	}
	b.loadFigures(all)
	return &section{title: "Throughput", text: all.text(), plots: all.plots()}, nil
}

// loadAt compares all contenders at one setting.
func (b *bench) loadAt(ctx context.Context, url string, s setting, rounds int) (_ *rates, err error) {
	f, err := newField(ctx, b.place(url, s))
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // nothing of it is wanted any more
	o := options{clients: s.clients, rounds: rounds, slice: b.slice}
	cells, err := f.cells(ctx, f.all, s.clients)
	if err != nil {
		return nil, err
	}
	return interleave(ctx, cells, o)
}

// cells are contenders under each kind of traffic that says something of them.
// What replays repeat is sent here.
func (f *field) cells(ctx context.Context, all []contender, clients int) ([]cell, error) {
	var out []cell
	for _, c := range all {
		old := replays(numbers.Add(int64(clients*known)) - int64(clients*known) + 1)
		if c.reads {
			out = append(out, cell{c, old})
			continue
		}
		if err := sendEach(ctx, c, newKeys, clients, warmUp); err != nil {
			return nil, err
		}
		out = append(out, cell{c, newKeys})
		if c.keyed {
			if err := sendEach(ctx, c, old, clients, known); err != nil {
				return nil, err
			}
			out = append(out, cell{c, old})
		}
		out = append(out, cell{c, duplicates})
	}
	return out, nil
}

// sendEach has every client send n requests.
func sendEach(ctx context.Context, c contender, t traffic, clients, n int) error {
	failed := make(chan error, clients)
	for client := range clients {
		next := t.client(client)
		go func() {
			for range n {
				if err := c.run(ctx, next()); err != nil {
					failed <- fmt.Errorf("%s, %s: %w", c.name, t.name, err)
					return
				}
			}
			failed <- nil
		}()
	}
	var first error
	for range clients {
		if err := <-failed; first == nil {
			first = err
		}
	}
	return first
}

// kindOfReplays names replays in tables.
var kindOfReplays = replays(0).name

func (b *bench) loadFigures(all load) {
	n, f := all[near], all[far]
	b.found(figureBareNear, n.ratio(fusedCall, bareInsert, newKeys.name), also(n.ratio(overHTTP, bareHTTP, newKeys.name), "both over HTTP"))
	b.found(figureBareFar, f.ratio(fusedCall, bareInsert, newKeys.name), also(f.ratio(overHTTP, bareHTTP, newKeys.name), "both over HTTP"))
	b.found(figureTextbook, f.ratio(fusedCall, oneByHand, newKeys.name), all.elsewhere(fusedCall, oneByHand))
	b.found(figureReplay, f.ratio(overHTTP, readEmitted, kindOfReplays), also(f.ratio(overHTTP, readByHand, kindOfReplays), "against one by hand"))
	b.found(figureStepped, f.ratio(steppedCall, twoByHand, newKeys.name), "")
	b.found(figureGo, f.ratio(goCall, oneByHand, newKeys.name), "")
	for _, rival := range []struct {
		own, name        string
		fresh, repeating figure
		note             string
	}{
		{overHTTP, redisHTTP, figureRedisNew, figureRedisReplay, ""},
		{overHTTP, fiberHTTP, figureFiberNew, figureFiberReplay, "with its storage in Redis"},
		{fusedCall, dbosCall, figureDBOSNew, figureDBOSReplay, ""},
	} {
		fresh, repeating := "", ""
		if rival.note != "" {
			fresh = also(f.ratio(overHTTP, fiberRedis, newKeys.name), rival.note)
			repeating = also(f.ratio(overHTTP, fiberRedis, kindOfReplays), rival.note)
		}
		b.found(rival.fresh, f.ratio(rival.own, rival.name, newKeys.name), fresh)
		b.found(rival.repeating, f.ratio(rival.own, rival.name, kindOfReplays), repeating)
	}
}

func also(value float64, what string) string {
	if math.IsNaN(value) {
		return ""
	}
	return fmt.Sprintf("%s: %.2f", what, value)
}

// elsewhere is a ratio at the other numbers of clients and the far round trip.
func (l load) elsewhere(name, to string) string {
	var notes []string
	for _, s := range l.settings(far.roundTrip) {
		if s != far {
			notes = append(notes, also(l[s].ratio(name, to, newKeys.name), fmt.Sprintf("%d clients", s.clients)))
		}
	}
	return strings.Join(notes, ", ")
}

// settings of a round trip, by number of clients.
func (l load) settings(roundTrip time.Duration) (all []setting) {
	for s := range l {
		if s.roundTrip == roundTrip {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b setting) int { return a.clients - b.clients })
	return all
}

// text is a table for each round trip and kind of traffic.
func (l load) text() string {
	var t strings.Builder
	t.WriteString("Requests per second; in brackets the ratio to the contender without idempotency that is called in the same way: " +
		"the bare INSERT, from Go or over HTTP, and for replays the SELECT by primary key, over HTTP. " +
		"The ratio is the median of the rounds' ratios.\n")
	for _, kind := range []string{newKeys.name, kindOfReplays, duplicates.name} {
		for _, roundTrip := range []time.Duration{far.roundTrip, near.roundTrip} {
			l.table(&t, kind, roundTrip)
		}
	}
	return t.String()
}

func network(roundTrip time.Duration) string {
	if roundTrip == 0 {
		return "local"
	}
	return "round trip of " + roundTrip.String()
}

func (l load) table(t *strings.Builder, kind string, roundTrip time.Duration) {
	settings := l.settings(roundTrip)
	fmt.Fprintf(t, "\n**%s, %s**\n\n| |", kind, network(roundTrip))
	for _, s := range settings {
		fmt.Fprintf(t, " %s |", counted(s.clients, "client"))
	}
	t.WriteString("\n|---|" + strings.Repeat("---:|", len(settings)) + "\n")
	for _, c := range l[settings[0]].cells {
		if c.traffic.name != kind {
			continue
		}
		fmt.Fprintf(t, "| %s |", c.name)
		for _, s := range settings {
			base := c.base
			if kind == kindOfReplays {
				base = readByHand
			}
			fmt.Fprintf(t, " %.0f (%.2f) |", median(l[s].of(c.name, kind)), l[s].ratio(c.name, base, kind))
		}
		t.WriteString("\n")
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plots are the settings of the wanted figures.
func (l load) plots() []plot {
	return []plot{
		l.plot("new-keys-1ms", newKeys.name, far),
		l.plot("new-keys-local", newKeys.name, near),
		l.plot("replays-1ms", kindOfReplays, far),
	}
}

func (l load) plot(file, kind string, s setting) plot {
	p := plot{file: file, title: fmt.Sprintf("%s per second: %s, %s", kind, network(s.roundTrip), counted(s.clients, "client")), format: "%.0f"}
	for _, c := range l[s].cells {
		if c.traffic.name == kind {
			p.bars = append(p.bars, bar{c.name, median(l[s].of(c.name, kind))})
		}
	}
	return p
}
