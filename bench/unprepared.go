package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// unpreparedGroup compares without server-side prepared statements, as old poolers
// need it: straight to the server, and through PgBouncer where it is installed.
func unpreparedGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "unprepared")
	if err != nil {
		return nil, err
	}
	var t strings.Builder
	t.WriteString("Every statement is parsed and planned anew (`QueryExecModeExec` of pgx). Fused against the bare INSERT in the same mode, new keys.\n\n" +
		"| | bare, requests/s | fused, requests/s | fused against bare | fused against textbook |\n|---|---:|---:|---:|---:|\n")
	for _, s := range []setting{near, far} {
		r, err := b.unprepared(ctx, &t, "to the server", url, s)
		if err != nil {
			return nil, err
		}
		if s == near {
			b.found(figureUnprepared, r.ratio(fusedCall, bareInsert, newKeys.name), "")
		} else {
			m := b.measured[figureUnprepared]
			b.found(figureUnprepared, m.value, also(r.ratio(fusedCall, bareInsert, newKeys.name), "1 ms, 16 clients"))
		}
	}
	if !pgserver.BouncerInstalled() {
		t.WriteString("\nPgBouncer is not installed.\n")
		return &section{title: "Without prepared statements", text: t.String()}, nil
	}
	bouncer, err := pgserver.StartBouncer(ctx, url, near.clients)
	if err != nil {
		return nil, err
	}
	defer bouncer.Stop() //nolint:errcheck // it is not wanted any more
	if _, err := b.unprepared(ctx, &t, "through PgBouncer", bouncer.URL(), near); err != nil {
		return nil, err
	}
	return &section{title: "Without prepared statements", text: t.String()}, nil
}

func (b *bench) unprepared(ctx context.Context, t *strings.Builder, how, url string, s setting) (*rates, error) {
	p := b.place(url, s)
	p.mode, p.dbos, p.redis = pgx.QueryExecModeExec, false, ""
	f, err := newField(ctx, p)
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // nothing of it is wanted any more
	var cells []cell
	for _, name := range []string{bareInsert, fusedCall, oneByHand} {
		cells = append(cells, cell{f.get(name), newKeys})
	}
	r, err := interleave(ctx, cells, options{clients: s.clients, rounds: b.rounds, slice: b.slice})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(t, "| %s, %s, %s | %.0f | %.0f | %.2f | %.2f |\n", how, network(s.roundTrip), counted(s.clients, "client"),
		median(r.of(bareInsert, newKeys.name)), median(r.of(fusedCall, newKeys.name)),
		r.ratio(fusedCall, bareInsert, newKeys.name), r.ratio(fusedCall, oneByHand, newKeys.name))
	return r, nil
}
