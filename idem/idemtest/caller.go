package idemtest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5/pgtype"
)

// CallerField is a field of a caller, with its values for callers "a" and "b"
// as PostgreSQL writes them.
type CallerField struct {
	Into any    // pointer to the field
	Type string // of PostgreSQL: text, uuid, int8 …
	A, B string
}

// ScanCaller fills the fields of the caller that CallerHeader names. It fails
// where the request names none.
func ScanCaller(r *http.Request, fields ...CallerField) error {
	name := r.Header.Get(CallerHeader)
	if name != "a" && name != "b" {
		return errors.New("idemtest: the request names no caller")
	}
	types := pgtype.NewMap()
	for _, field := range fields {
		value := field.A
		if name == "b" {
			value = field.B
		}
		known, ok := types.TypeForName(field.Type)
		if !ok {
			return fmt.Errorf("idemtest: a caller's field has the unknown type %s", field.Type)
		}
		if err := types.Scan(known.OID, pgtype.TextFormatCode, []byte(value), field.Into); err != nil {
			return fmt.Errorf("idemtest: caller %s: %w", name, err)
		}
	}
	return nil
}
