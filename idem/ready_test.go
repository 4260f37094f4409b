package idem

import (
	"strings"
	"testing"
)

func TestReady(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	s.exec(t, "CREATE OR REPLACE FUNCTION idem.version() RETURNS integer LANGUAGE sql AS 'SELECT 99'")
	if err := s.Ready(t.Context()); err == nil {
		t.Error("another version")
	}
	s.exec(t, "DROP SCHEMA idem CASCADE")
	if err := s.Ready(t.Context()); err == nil {
		t.Error("no tables")
	}
}

// Pitfall 24: an index that a failed CONCURRENTLY left behind holds nothing.
func TestPitfall_24_ReadyFindsIntentsThatHoldNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	const want = "operation Create: table public.payments has no valid unique index payments_order"
	s.exec(t, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'payments_order'::regclass")
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("INVALID: %v", err)
	}
	s.exec(t, "ALTER TABLE payments DROP CONSTRAINT payments_order")
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("missing: %v", err)
	}
}

func TestPitfall_17_ReadyFindsTriggersAndRules(t *testing.T) {
	s := newShop(t, createPayment("Create", "2000ms", true), takeJob())
	s.exec(t, `CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER row_level BEFORE DELETE ON payments FOR EACH ROW EXECUTE FUNCTION nothing();
		CREATE TRIGGER of_jobs AFTER UPDATE ON jobs EXECUTE FUNCTION nothing()`)
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("a trigger per row, and one that verbatim allows for: %v", err)
	}
	s.exec(t, `CREATE TRIGGER of_payments AFTER INSERT ON payments EXECUTE FUNCTION nothing();
		CREATE RULE of_jobs AS ON UPDATE TO jobs DO ALSO NOTHING`)
	err := s.Ready(t.Context())
	for _, want := range []string{"Create is fused, but table public.payments has a statement-level trigger", "TakeJob is verbatim, but table public.jobs has a rule"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
