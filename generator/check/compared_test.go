package check

import "testing"

// A secret that a statement only compares must not become optional because its
// column is nullable.
func TestComparedParameterIsRequired(t *testing.T) {
	q := words("-- name: Op :exec\n-- @http POST /x/{id}\nUPDATE payments SET currency = @currency WHERE id = @id AND note = @code AND label = sqlc.narg('label');\n")
	s := service{queries: q, migrations: payments + "ALTER TABLE payments ADD COLUMN label text;"}
	op := s.operation(t)
	if in := inputNamed(t, op, "body.code"); !in.Required || in.Nullable || in.Type.Nullable {
		t.Errorf("compared with a nullable column: %+v", in)
	}
	if in := inputNamed(t, op, "body.label"); in.Required || !in.Nullable {
		t.Errorf("sqlc.narg stays optional: %+v", in)
	}
	filter := service{queries: "-- name: Op :many\n-- @http GET /x\nSELECT id FROM payments WHERE note = @note;\n"}.operation(t)
	if in := inputNamed(t, filter, "query.note"); !in.Required {
		t.Errorf("in a query string: %+v", in)
	}
	stored := service{queries: "-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note WHERE note <> @note;\n"}.operation(t)
	if in := inputNamed(t, stored, "body.note"); in.Required || !in.Nullable {
		t.Errorf("stored in a nullable column: %+v", in)
	}
}
