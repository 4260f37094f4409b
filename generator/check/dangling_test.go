package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// A foreign key to a misspelt table is told at the migration; the query whose
// @error names it is right.
func TestDanglingForeignKeyIsNotTheQuerysFault(t *testing.T) {
	s := service{migrations: payments + "CREATE TABLE parts (id bigint PRIMARY KEY, payment_id bigint CONSTRAINT parts_payment_fkey REFERENCES payment (id));",
		queries: "-- name: Op :exec\n-- @http DELETE /x/{id}\n-- @error parts_payment_fkey 409 has_parts\nDELETE FROM payments WHERE id = @id;\n"}
	s.refuses(t, want{diag.CatalogUnknown, "no migration makes the table payment,", "payments", ""})
}
