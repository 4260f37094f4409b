package idem

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// atPick calls a function when work is about to be picked.
type atPick struct{ do func() }

func (a atPick) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "name: PickWork") {
		a.do()
	}
	return ctx
}
func (atPick) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// What is picked while Run ends is given back: its lease is not left to run out, and
// nothing counts as a failed try.
func TestWhatIsPickedAtTheEndIsGivenBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := idemtest.URL(t, shopTables)
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.Tracer = atPick{cancel} })
	s := openStation(t, pool, &till{}, nil, payout())
	wantStatus(t, s.post("Payout", "k", order1), 202)
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE attempt = 1 AND tries = 0 AND owner IS NULL AND lease_until IS NULL"); n != 1 {
		t.Errorf("%d are given back", n)
	}
	s.till.want(t, 0, 0, 0, 0)
}

// Work is picked with the lease of its calls as well, so that it is free again as soon
// after a crash.
func TestPickedWorkHasTheLeaseOfItsCalls(t *testing.T) {
	op := payout()
	op.Steps[1].Call.Lease = 2 * time.Second
	s := newStation(t, op)
	told := make(chan float64, 1)
	s.till.before = func(_ context.Context, v visit) error {
		if v.what != "Charge" {
			return nil
		}
		var left float64
		err := s.pool.QueryRow(context.Background(), "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM idem.work").Scan(&left)
		told <- left
		return errors.Join(err, errors.New("once is enough"))
	}
	wantStatus(t, s.post("Payout", "k", order1), 202)
	// It stands at the call already: what was picked is its lease, no transaction's.
	s.exec(t, `UPDATE idem.work SET step = 1, results = '{"steps": [{"name": "Insert", "texts": ["1"]}]}'`)
	stop := s.run(t)
	if left := within(t, told); left > 2 || left <= 0 {
		t.Errorf("%v s are left of the lease", left)
	}
	stop()
}
