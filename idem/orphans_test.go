package idem

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/gen"
)

// leftBehind writes unfinished work down, due since an hour.
func (s *shop) leftBehind(t *testing.T, operation string, n int) {
	t.Helper()
	s.exec(t, `WITH keys AS (
		INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
		SELECT 's', convert_to($1 || i, 'UTF8'), $1, 'k' || i, '', 0, 'infinity' FROM generate_series(1, $2::int) i)
		INSERT INTO idem.work (scope, digest, operation, due_at)
		SELECT 's', convert_to($1 || i, 'UTF8'), $1, clock_timestamp() - interval '1 hour' FROM generate_series(1, $2::int) i`, operation, n)
}

// What is left behind by operations that are gone is held by transactions of a
// bounded size, and nothing else is.
func TestOrphansAreHeldInBatches(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.leftBehind(t, "shop.Gone", 5)
	s.leftBehind(t, "shop.Ride", 3)
	s.leftBehind(t, "other.Gone", 3)
	c := &completing{s: s.Service, pool: s.pools.all[0], names: s.durableNames()}
	if err := c.holdOrphans(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE held AND operation = 'shop.Gone' AND reason <> ''"); n != 5 {
		t.Errorf("%d of 5 are held", n)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE held AND operation <> 'shop.Gone'"); n != 0 {
		t.Errorf("%d are held that are none of its own", n)
	}
	if n := s.count(t, "SELECT count(DISTINCT xmin::text) FROM idem.work WHERE held"); n != 3 {
		t.Errorf("they were held by %d transactions", n)
	}
}

// Looking for work, and for orphans, reads nothing that other services left behind.
func TestWorkOfOtherServicesIsNotRead(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.leftBehind(t, "other.Ride", 5000)
	s.leftBehind(t, "shop.Ride", 2)
	s.exec(t, "ANALYZE idem.work; ANALYZE idem.keys")
	for name, in := range map[string]struct {
		sql  string
		args []any
	}{
		"pick": {gen.PickWork, []any{"o", "30 s", []string{"shop.Ride", "shop.Other"}, 8}},
		"hold": {gen.HoldUnknownWork, []any{"gone", "10 min", 1000, "shop.", []string{"shop.Ride"}}},
	} {
		rows, err := s.pool.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) "+in.sql, append([]any{pgx.QueryExecModeExec}, in.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(name, err)
		}
		hit := regexp.MustCompile(`Buffers: shared hit=(\d+)`).FindStringSubmatch(lines(plan))
		if hit == nil {
			t.Fatalf("%s:\n%s", name, lines(plan))
		}
		if pages, _ := strconv.Atoi(hit[1]); pages > 60 {
			t.Errorf("%s reads %d pages:\n%s", name, pages, lines(plan))
		}
	}
}

func lines(all []string) (text string) {
	for _, line := range all {
		text += line + "\n"
	}
	return text
}
