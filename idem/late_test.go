package idem

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// waitingFor is the operation with another bound of its wait, in the policy and
// in SQL; with 0 a verbatim or stepped one rejects.
func waitingFor(op *Operation, wait time.Duration) *Operation {
	op.Policy.Wait = wait
	op.SQL = strings.ReplaceAll(op.SQL, "'"+patience+"'", "'"+millis(wait)+"'")
	return op
}

func wantWinners(t *testing.T, s *shop, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != 201 || w.Body.String() != `{"id": "winner"}` || w.Header().Get(replayedHeader) != "true" {
		t.Errorf("%d %s, replayed %s", w.Code, w.Body, w.Header().Get(replayedHeader))
	}
	if n := s.count(t, allEffects); n != 0 {
		t.Errorf("%d effects of the loser", n)
	}
}

// A twin that is done is replayed, not refused, also by who rejects: seen at once.
func TestCase_race_4(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{
		createPayment("Reject", "", true), waitingFor(takeJob(), 0), waitingFor(transfer("Transfer", ReadCommitted), 0),
		waitingFor(transfer("Steady", RepeatableRead), 0), waitingFor(transfer("Strict", Serializable), 0),
	} {
		t.Run(string(op.Name), func(t *testing.T) {
			s := newShop(t, op)
			s.exec(t, "INSERT INTO jobs DEFAULT VALUES")
			s.exec(t, winner, digestFor(string(op.Name)))
			wantWinners(t, s, s.post(op.Name, "k", bodyFor(op.Name)))
		})
	}
}

// The loser that rejects has done its work when it meets the winner's record:
// 23505.
func TestCase_race_4_met_at_the_record(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{createPayment("Reject", "", true), waitingFor(transfer("Transfer", ReadCommitted), 0)} {
		t.Run(string(op.Name), func(t *testing.T) {
			s := newShop(t, op)
			end := hold(t, s.pool, winner, digestFor(string(op.Name)))
			done := make(chan *httptest.ResponseRecorder, 1)
			go func() { done <- s.post(op.Name, "k", bodyFor(op.Name)) }()
			awaitBlocked(t, s)
			end(true)
			wantWinners(t, s, <-done)
		})
	}
}

// lockedWinner is winner by a twin that holds the advisory lock.
const lockedWinner = `WITH idem_lock AS MATERIALIZED (SELECT pg_advisory_xact_lock($2)) ` + `INSERT INTO idem.keys
	(scope, digest, operation, key, fingerprint, status, body, expires_at)
	SELECT 't1', $1, 'shop.x', 'k', '\x00', 201, '{"id": "winner"}', clock_timestamp() + interval '1 hour' FROM idem_lock`

// The winner commits when the loser has given up waiting, and before it answers.
func TestCase_race_4_met_too_late(t *testing.T) {
	t.Parallel()
	short := 50 * time.Millisecond
	for name, op := range map[string]*Operation{
		"fused":                   createPayment("Create", "50ms", true),
		"fused update":            waitingFor(charge(), short),
		"verbatim":                waitingFor(takeJob(), short),
		"verbatim, reject":        waitingFor(takeJob(), 0),
		"stepped":                 waitingFor(transfer("Transfer", ReadCommitted), short),
		"repeatable read":         waitingFor(transfer("Steady", RepeatableRead), short),
		"repeatable read, reject": waitingFor(transfer("Steady", RepeatableRead), 0),
		"serializable":            waitingFor(transfer("Strict", Serializable), short),
		"serializable, reject":    waitingFor(transfer("Strict", Serializable), 0),
	} {
		t.Run(name, func(t *testing.T) { meetTooLate(t, op) })
	}
}

// meetTooLate ends the winner where the loser takes its second connection: the
// first one met the winner's lock, the second one looks the key up.
func meetTooLate(t *testing.T, op *Operation) {
	url := idemtest.URL(t, shopTables, "INSERT INTO jobs DEFAULT VALUES")
	other := &shop{pool: idemtest.Open(t, url, nil)}
	sql, args := winner, []any{digestFor(string(op.Name))}
	if op.Strategy == Stepped && op.Policy.Wait > 0 {
		sql, args = lockedWinner, append(args, lockOf("t1", "shop."+string(op.Name), "k"))
	}
	end := hold(t, other.pool, sql, args...)
	taken := 0 // by one request, so one after the other
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) {
		c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) {
			if taken++; taken == 2 {
				end(true)
			}
			return true, nil
		}
	})
	w := openShop(t, pool, op).post(op.Name, "k", bodyFor(op.Name))
	if taken != 2 {
		t.Fatalf("%d connections taken: %d %s", taken, w.Code, w.Body)
	}
	wantWinners(t, other, w)
}
