package idem

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// crossing makes each write to a slot stop behind it, and then write to the other
// one of the two: two that stop at once wait for each other when they go on.
const crossing = `INSERT INTO slots VALUES (1, 25), (2, 25);
	CREATE FUNCTION cross_slots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM pg_advisory_xact_lock_shared(1);
		UPDATE slots SET effects = effects + 1 WHERE id = 3 - NEW.id;
		RETURN NULL;
	END $$;
	CREATE TRIGGER cross_slots AFTER UPDATE ON slots FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION cross_slots();
	DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''10ms''', current_database()); END $$`

// crossed are the strategies of two operations that meet.
var crossed = []string{"fused+fused", "fused+verbatim", "fused+stepped", "verbatim+verbatim", "stepped+stepped",
	"repeatable read+repeatable read", "serializable+fused"}

// Two different operations, each with the row that the other one wants: one of
// them is ended by PostgreSQL, and tried again.
func TestCase_db_2_a_certain_deadlock(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, shopTables, spendTables, crossing)
	watch := &shop{pool: idemtest.Open(t, url, nil)}
	for i, pair := range crossed {
		t.Run(pair, func(t *testing.T) {
			watch.exec(t, "ALTER TABLE slots DISABLE TRIGGER cross_slots")
			watch.exec(t, "UPDATE slots SET budget = 25, effects = 0")
			watch.exec(t, "ALTER TABLE slots ENABLE TRIGGER cross_slots")
			one, other, _ := strings.Cut(pair, "+")
			meetCrosswise(t, watch, openShop(t, idemtest.Open(t, url, nil), spenders()[one](spendName(i, 0)), spenders()[other](spendName(i, 1))), i)
		})
	}
}

func meetCrosswise(t *testing.T, watch, s *shop, pair int) {
	deadlocks := "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
	before := watch.count(t, deadlocks)
	end := hold(t, watch.pool, holdWrites)
	answers := [2]chan *httptest.ResponseRecorder{}
	send := func(i int) *httptest.ResponseRecorder {
		return s.post(spendName(pair, i), "k", spendBody(int64(i+1), 20))
	}
	for i := range answers {
		answers[i] = make(chan *httptest.ResponseRecorder, 1)
		go func() { answers[i] <- send(i) }()
	}
	awaitAllBlocked(t, watch, int64(len(answers)))
	end(true)
	for i := range answers {
		first := <-answers[i]
		wantStatus(t, first, 201)
		sameAnswer(t, first, send(i))
	}
	if n := watch.count(t, "SELECT count(*) FROM slots WHERE budget = 5 AND effects = 2"); n != 2 {
		t.Errorf("%d slots have the two effects", n)
	}
	s.pool.Close() // a server process tells of its deadlocks at its end
	for deadline := time.Now().Add(20 * time.Second); watch.count(t, deadlocks) == before; {
		if time.Now().After(deadline) {
			t.Fatal("there was no deadlock")
		}
	}
}
