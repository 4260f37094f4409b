package idem

import (
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// A batch whose connection is lost before its answer may have happened. pgx says
// that it was not sent; taken at its word, a POST without a key would run twice.
func TestLostBatchIsNotTakenForUnsent(t *testing.T) {
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
		if n := s.count(t, "SELECT balance FROM accounts WHERE id = 2") - before; n > 1 {
			t.Fatalf("%d effects", n)
		}
	}
}
