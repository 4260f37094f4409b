package main

import (
	"context"
	"crypto/md5" //nolint:gosec // of numbers, to scatter them as PostgreSQL can
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// keysGroup compares a small table of keys with a big one: two databases of one
// server, in turn.
func keysGroup(ctx context.Context, b *bench) (*section, error) {
	few, err := b.filled(ctx, "few_keys", b.fewKeys)
	if err != nil {
		return nil, err
	}
	many, err := b.filled(ctx, "many_keys", b.manyKeys)
	if err != nil {
		return nil, err
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%s keys in `idem.keys` (%s with its indexes) against %s, all of them of one tenant. "+
		"New keys land anywhere among them; replays are of any of them.\n\n"+
		"| | few, requests/s | many, requests/s | ratio |\n|---|---:|---:|---:|\n",
		thousands(b.manyKeys), many.size, thousands(b.fewKeys))
	for _, s := range []setting{near, far} {
		r, err := b.beside(ctx, s, few, many)
		if err != nil {
			return nil, err
		}
		for _, kind := range []string{newKeys.name, kindOfReplays} {
			ratio := r.ratio(many.database, few.database, kind)
			fmt.Fprintf(&t, "| %s, %s, %s | %.0f | %.0f | %.2f |\n", kind, network(s.roundTrip), counted(s.clients, "client"),
				median(r.of(few.database, kind)), median(r.of(many.database, kind)), ratio)
			if s == near && kind == newKeys.name {
				b.found(figureManyKeys, ratio, fmt.Sprintf("%s keys; replays: %.2f", thousands(b.manyKeys), r.ratio(many.database, few.database, kindOfReplays)))
			}
		}
	}
	return &section{title: "A table of many keys", text: t.String()}, nil
}

// table is a database with keys in it.
type table struct {
	url, database, size string
	keys                int
}

// filledOrder is the order that the keys of a filled table are of.
const filledOrder = "order-filled"

// filledRequest is the request that made a key of a filled table.
func filledRequest(n int) request {
	sum := md5.Sum([]byte(strconv.Itoa(n)))
	key := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
	return request{number: int64(n), key: key, order: filledOrder}
}

// filledReplays repeat any request of those that filled the table.
func (t *table) replays() traffic {
	return traffic{name: kindOfReplays, client: func(client int) func() request {
		random := rand.New(rand.NewPCG(uint64(client), 1))
		return func() request { return filledRequest(1 + random.IntN(t.keys)) }
	}}
}

// fillKeys is copies of one record, under other keys: what differs between
// records is the key, what is found by it, and when it expires.
const fillKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
SELECT k.scope, substr(sha256(int8send(length(k.operation)) || k.operation::bytea || int8send(36) || n.key::bytea), 1, 16),
  k.operation, n.key, k.fingerprint, k.status, k.headers, k.body, clock_timestamp() + interval '2 hours' + i * interval '10 microseconds'
FROM (SELECT * FROM idem.keys WHERE key = $3) k, generate_series($1::bigint, $2::bigint) i, LATERAL (SELECT md5(i::text)::uuid::text AS key) n`

// filled makes a database with so many live keys.
func (b *bench) filled(ctx context.Context, name string, n int) (*table, error) {
	url, err := b.database(ctx, name)
	if err != nil {
		return nil, err
	}
	p := b.place(url, near)
	p.dbos, p.redis = false, ""
	f, err := newField(ctx, p)
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // nothing of it is wanted any more
	first := filledRequest(0)
	if err := f.get(fusedCall).run(ctx, first); err != nil {
		return nil, err
	}
	pool, err := p.pool(ctx, fillers)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := fill(ctx, pool, first.key, n); err != nil {
		return nil, err
	}
	t := &table{url: url, database: name, keys: n}
	return t, pool.QueryRow(ctx, "SELECT pg_size_pretty(pg_total_relation_size('idem.keys'))").Scan(&t.size)
}

// fillers is how many connections fill a table.
const fillers = 2

// indexStatements are what takes the indexes of idem.keys away, and makes them again.
const indexStatements = `SELECT 'ALTER TABLE idem.keys DROP CONSTRAINT ' || conname, 'ALTER TABLE idem.keys ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid = 'idem.keys'::regclass AND contype = 'p'
UNION ALL
SELECT 'DROP INDEX ' || indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'idem.keys'::regclass AND NOT indisprimary`

// fill adds n keys without the indexes, and makes these at the end: that is how it
// takes a minute and not ten.
func fill(ctx context.Context, pool *pgxpool.Pool, first string, n int) error {
	rows, err := pool.Query(ctx, indexStatements)
	if err != nil {
		return err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Drop, Create string }])
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := pool.Exec(ctx, s.Drop); err != nil {
			return fmt.Errorf("%s: %w", s.Drop, err)
		}
	}
	if err := fillRows(ctx, pool, first, n); err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := pool.Exec(ctx, s.Create); err != nil {
			return fmt.Errorf("%s: %w", s.Create, err)
		}
	}
	for _, sql := range []string{"VACUUM ANALYZE idem.keys", "CHECKPOINT"} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func fillRows(ctx context.Context, pool *pgxpool.Pool, first string, n int) error {
	failed := make(chan error, fillers)
	for i := range fillers {
		go func() {
			_, err := pool.Exec(ctx, fillKeys, 1+i*n/fillers, (i+1)*n/fillers, first)
			failed <- err
		}()
	}
	var err error
	for range fillers {
		if one := <-failed; one != nil {
			err = fmt.Errorf("fill idem.keys: %w", one)
		}
	}
	return err
}

// beside compares tables at one setting: the contender is named by the database.
func (b *bench) beside(ctx context.Context, s setting, tables ...*table) (*rates, error) {
	var cells []cell
	for _, t := range tables {
		p := b.place(t.url, s)
		p.dbos, p.redis = false, ""
		f, err := newField(ctx, p)
		if err != nil {
			return nil, err
		}
		defer f.close() //nolint:errcheck // nothing of it is wanted any more
		c := f.get(fusedCall)
		c.name = t.database
		cells = append(cells, cell{c, newKeys}, cell{c, t.replays()})
	}
	return interleave(ctx, cells, options{clients: s.clients, rounds: b.rounds, slice: b.slice})
}

// thousands writes a number as people read it.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
