package idem

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// seenLevels keeps the isolation and the lock_timeout that each write, to keys
// too, ran with. The database has defaults of its own: serializable, which must
// not be met where the policy does not ask for it, and 37s, which must.
const seenLevels = `CREATE TABLE seen (tab text, level text, waits text);
	CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO seen VALUES (TG_TABLE_NAME, current_setting('transaction_isolation'), current_setting('lock_timeout'));
		RETURN NULL;
	END $$;
	CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON payments FOR EACH ROW EXECUTE FUNCTION see();
	CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION see();
	CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION see();
	CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON idem.keys FOR EACH ROW EXECUTE FUNCTION see();
	DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
		EXECUTE format('ALTER DATABASE %I SET lock_timeout = ''37s''', current_database());
	END $$`

// witnessed serves operations on a database with seenLevels.
func witnessed(t *testing.T, ops ...*Operation) *shop {
	t.Helper()
	return openShop(t, idemtest.Open(t, idemtest.URL(t, shopTables, manyJobs, seenLevels), nil), ops...)
}

// saw gives the distinct values of a column for what was written to the tables.
func (s *shop) saw(t *testing.T, column, tables string, send func()) string {
	t.Helper()
	s.exec(t, "TRUNCATE seen")
	send()
	var values string
	sql := "SELECT coalesce(string_agg(DISTINCT " + column + ", ', '), 'nothing') FROM seen WHERE tab ~ $1"
	if err := s.pool.QueryRow(t.Context(), sql, tables).Scan(&values); err != nil {
		t.Fatal(err)
	}
	return values
}

func levelOf(op *Operation) string {
	if op.Policy.Isolation == ReadCommitted {
		return "read committed"
	}
	return string(op.Policy.Isolation)
}

// wantLevel sends, and fails unless all that was written ran at that level.
func (s *shop) wantLevel(t *testing.T, what, level string, status int, send func() *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	t.Helper()
	var w *httptest.ResponseRecorder
	got := s.saw(t, "level", "", func() { w = send() })
	if w.Code != status {
		t.Fatalf("%s: %d %s", what, w.Code, w.Body)
	}
	if got != level {
		t.Errorf("%s ran at %s", what, got)
	}
	return w
}

// Pitfall 20: whatever the default of the database is, each strategy states the
// level of its policy: with a key, in the place of an expired record, and forced.
func TestPitfall_20_EveryKeyedWayStatesItsLevel(t *testing.T) {
	t.Parallel()
	for _, op := range forceables() {
		t.Run(string(op.Name), func(t *testing.T) {
			s := witnessed(t, op)
			send := func(headers ...string) func() *httptest.ResponseRecorder {
				return func() *httptest.ResponseRecorder { return s.post(op.Name, "k", bodyFor(op.Name), headers...) }
			}
			s.wantLevel(t, "the first run", levelOf(op), op.Status, send())
			s.wantLevel(t, "a forced run", levelOf(op), op.Status, send(forceHeader, "true"))
			s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
			s.wantLevel(t, "a run in the place of an expired record", levelOf(op), op.Status, send())
		})
	}
}

// Pitfall 20: a client error is recorded by itself, behind the transaction of the
// operation: at READ COMMITTED whatever the level of that one was.
func TestPitfall_20_ARecordedClientErrorStatesItsLevel(t *testing.T) {
	t.Parallel()
	noAccount := `{"from": 1, "to": 3, "amount": 1}`
	for _, c := range []struct {
		op     *Operation
		body   string
		status int
	}{
		{createPayment("Create", patience, true), `{"order_id": "o", "amount": -1}`, 422},
		{charge(), `{"amount": 95}`, 409},
		{transfer("Transfer", ReadCommitted), noAccount, 404},
		{transfer("Steady", RepeatableRead), noAccount, 404},
		{transfer("Strict", Serializable), noAccount, 404},
	} {
		s := witnessed(t, c.op)
		send := func() *httptest.ResponseRecorder { return s.post(c.op.Name, "k", c.body) }
		sameAnswer(t, s.wantLevel(t, string(c.op.Name), "read committed", c.status, send), send())
	}
}

// Pitfall 20: without a key, or without a write, in a look-up too.
func TestPitfall_20_UnkeyedAndDirectStateTheirLevel(t *testing.T) {
	t.Parallel()
	// Their answers say the level that they were made at.
	tell := func(op *Operation) *Operation {
		op.SQL = strings.ReplaceAll(op.SQL, "d.note", "current_setting('transaction_isolation') AS note")
		return op
	}
	s := witnessed(t, tell(createPayment("Create", patience, false)), tell(getPayment()))
	for _, w := range []*httptest.ResponseRecorder{
		s.post("Create", "", order1),         // unkeyed: makes the row
		s.call("GetPayment", "GET", "1", ""), // direct: reads it
		s.post("Create", "k", order1),        // a conflict of the intent: shows it
	} {
		if !strings.Contains(w.Body.String(), `"note":"read committed"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
		op := transfer("Transfer", level)
		op.Key.Required = false
		s := witnessed(t, op)
		send := func() *httptest.ResponseRecorder { return s.post("Transfer", "", bodyFor("Transfer")) }
		s.wantLevel(t, "stepped, unkeyed", levelOf(op), 201, send)
	}
}

// Pitfall 7: what bounds the wait for the claim is the default again when the
// business SQL runs, in the strategies that can end it, whatever the policy does
// about duplicates, in a forced run too. In the fused one it can't end before the
// statement does.
func TestPitfall_7_BusinessWaitsHaveTheDefaultLimit(t *testing.T) {
	t.Parallel()
	for _, op := range forceables() {
		pool := witnessed(t).pool
		for _, wait := range []time.Duration{0, patienceTime} {
			t.Run(fmt.Sprint(op.Name, ", waits ", wait), func(t *testing.T) {
				op := *op
				s := openShop(t, pool, waitingFor(&op, wait))
				s.exec(t, "DELETE FROM idem.keys")
				send := func(headers ...string) func() {
					return func() { wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name), headers...), op.Status) }
				}
				if got := s.saw(t, "waits", "accounts|jobs", send()); got != "37s" && op.Strategy != Fused {
					t.Errorf("lock_timeout %s", got)
				}
				if got := s.saw(t, "waits", "accounts|jobs", send(forceHeader, "true")); got != "37s" {
					t.Errorf("lock_timeout %s in a forced run", got)
				}
			})
		}
	}
}
