package schema

import (
	"strings"
	"testing"
)

func TestUpHoldsTheUpPartsOnly(t *testing.T) {
	up := Up()
	for _, want := range []string{"CREATE TABLE idem.keys", "CREATE TABLE idem.outbox", "FUNCTION idem.refuse"} {
		if !strings.Contains(up, want) {
			t.Errorf("Up() lacks %q", want)
		}
	}
	if strings.Contains(up, "DROP SCHEMA") {
		t.Error("Up() holds a Down part")
	}
}
