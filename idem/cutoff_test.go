package idem

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// A batch whose connection is lost before its answer may have happened. pgx says
// that it was not sent; taken at its word, a POST without a key would run twice.
func TestLostBatchIsNotTakenForUnsent(t *testing.T) {
	t.Parallel()
	op := transfer("Transfer", ReadCommitted)
	op.Key.Required = false
	cut := &cutter{text: "COMMIT\x00"} // not READ COMMITTED, which is prepared
	url := idemtest.URL(t, shopTables)
	s := openShop(t, cuttingPool(t, url, cut), op)
	wantStatus(t, s.post("Transfer", "", bodyFor("Transfer")), 201)
	for range 5 {
		before := s.count(t, "SELECT balance FROM accounts WHERE id = 2")
		cut.armed.Store(true)
		w := s.post("Transfer", "", bodyFor("Transfer"))
		wantCode(t, w, 503, "unavailable")
		s.quiet(t) // the COMMIT may come to its end behind the answer
		if n := s.count(t, "SELECT balance FROM accounts WHERE id = 2") - before; n > 1 {
			t.Fatalf("%d effects", n)
		}
	}
}

// quiet waits until no other session of the database has a transaction.
func (s *shop) quiet(t *testing.T) {
	t.Helper()
	const busy = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
		AND backend_type = 'client backend'`
	for deadline := time.Now().Add(30 * time.Second); s.count(t, busy) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("a transaction does not end")
		}
	}
}
