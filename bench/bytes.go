package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// responseSize is that of the response whose bytes are counted.
const responseSize = 200

// used is what a new key wrote.
type used struct {
	name             string
	log, full, table float64 // bytes: of WAL without full pages, right after a checkpoint, and of tables
}

// bytesGroup counts bytes of WAL and of tables and indexes per new key.
func bytesGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "bytes")
	if err != nil {
		return nil, err
	}
	f, err := newField(ctx, b.place(url, setting{0, 1}))
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // nothing of it is wanted any more
	pool, err := f.pool(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	sized, err := sizedKeys(ctx, pool, f.get(fusedCall))
	if err != nil {
		return nil, err
	}
	defer b.restore(ctx) //nolint:errcheck // the next group has a database of its own
	var all []*used
	for _, c := range f.all {
		if c.reads {
			continue
		}
		one, err := b.countBytes(ctx, pool, c, sized)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return b.bytesSection(all), nil
}

// quiet is a server that does nothing by itself.
func (b *bench) quiet(ctx context.Context, fullPages string) error {
	return b.exec(ctx, b.server.URL(), "ALTER SYSTEM SET autovacuum = off", "ALTER SYSTEM SET full_page_writes = "+fullPages,
		"SELECT pg_reload_conf()", "CHECKPOINT")
}

func (b *bench) restore(ctx context.Context) error {
	return b.exec(ctx, b.server.URL(), "ALTER SYSTEM RESET autovacuum", "ALTER SYSTEM RESET full_page_writes", "SELECT pg_reload_conf()")
}

// sizedKeys are new keys whose response has responseSize bytes.
func sizedKeys(ctx context.Context, pool *pgxpool.Pool, fused contender) (traffic, error) {
	r := requestOf(numbers.Add(1))
	if err := fused.run(ctx, r); err != nil {
		return traffic{}, err
	}
	var size int
	if err := pool.QueryRow(ctx, "SELECT octet_length(body) FROM idem.keys WHERE key = $1", r.key).Scan(&size); err != nil {
		return traffic{}, err
	}
	width := len(r.order) + responseSize - size
	return traffic{name: "sized", client: func(int) func() request {
		return func() request {
			r := requestOf(numbers.Add(1))
			r.order += strings.Repeat("x", width-len(r.order))
			return r
		}
	}}, nil
}

// countBytes is what one contender wrote, in two runs: without full pages, which
// is what a key itself needs; and with them, the first of each page after a checkpoint.
func (b *bench) countBytes(ctx context.Context, pool *pgxpool.Pool, c contender, sized traffic) (*used, error) {
	u := &used{name: c.name}
	if err := sendEach(ctx, c, sized, 1, 100); err != nil { // the first pages of its tables
		return nil, err
	}
	for _, run := range []struct {
		fullPages string
		log       *float64
	}{{"off", &u.log}, {"on", &u.full}} {
		if err := b.quiet(ctx, run.fullPages); err != nil {
			return nil, err
		}
		log, table, err := sizes(ctx, pool)
		if err != nil {
			return nil, err
		}
		if err := sendEach(ctx, c, sized, 1, b.bytesRequests); err != nil {
			return nil, err
		}
		logAfter, tableAfter, err := sizes(ctx, pool)
		if err != nil {
			return nil, err
		}
		*run.log = float64(logAfter-log) / float64(b.bytesRequests)
		u.table += float64(tableAfter-table) / float64(2*b.bytesRequests)
	}
	return u, nil
}

// sizes are the length of the WAL so far, and that of all tables and indexes.
func sizes(ctx context.Context, pool *pgxpool.Pool) (log, tables int64, err error) {
	err = pool.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
		(SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
		 WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace))`).Scan(&log, &tables)
	return log, tables, err
}

func (b *bench) bytesSection(all []*used) *section {
	var t strings.Builder
	fmt.Fprintf(&t, "Bytes per new key, with a response of %d bytes and a key of 36; the rows of the payment and what PostgreSQL adds to them included. "+
		"*Full pages*: PostgreSQL logs a page whole when it is first changed after a checkpoint, here with %d keys behind one. "+
		"The contenders with Redis keep their answers there.\n\n"+
		"| | WAL | beyond bare | with full pages | tables and indexes |\n|---|---:|---:|---:|---:|\n", responseSize, b.bytesRequests)
	var bare float64
	for _, u := range all {
		if u.name == bareInsert {
			bare = u.log
		}
	}
	p := plot{file: "wal", title: fmt.Sprintf("Bytes of WAL per new key, with a response of %d bytes", responseSize), format: "%.0f"}
	for _, u := range all {
		fmt.Fprintf(&t, "| %s | %.0f | %.0f | %.0f | %.0f |\n", u.name, u.log, u.log-bare, u.full, u.table)
		p.bars = append(p.bars, bar{u.name, u.log})
		if u.name == fusedCall {
			b.found(figureWAL, u.log-bare, "full pages apart")
		}
	}
	return &section{title: "Bytes written", text: t.String(), plots: []plot{p}}
}
