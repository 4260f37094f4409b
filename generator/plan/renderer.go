package plan

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// renderer writes the one SQL expression per type that makes its JSON form.
// The result depends on the value alone: not on TimeZone, DateStyle,
// IntervalStyle, bytea_output or extra_float_digits.
//
// PostgreSQL's own conversion is used where it has that property: booleans,
// integers, text, uuid, json, and date, time and timestamp, which JSON writes
// in ISO form whatever DateStyle says.
type renderer struct {
	bigintString bool
}

// json is an expression that row_to_json and to_json render as the column's
// JSON value. A NULL stays NULL.
func (r renderer) json(expr string, t model.Type) string {
	if t.Array {
		return r.jsonArray(expr, t)
	}
	return r.jsonScalar(expr, t)
}

func (r renderer) jsonScalar(expr string, t model.Type) string {
	switch t.Kind {
	case model.KindNumeric:
		return expr + "::text"
	case model.KindInt8:
		if r.bigintString {
			return expr + "::text"
		}
	case model.KindFloat4, model.KindFloat8:
		return exactFloat("to_json(" + expr + ")")
	case model.KindText:
		if blankPadded(t) {
			return expr + "::text" // without the padding, which has no meaning
		}
	case model.KindTimestamptz:
		return timestamptz(expr)
	case model.KindInterval:
		return "idem.interval_iso(" + expr + ")"
	case model.KindBytea:
		return base64(expr)
	}
	return expr
}

// jsonArray renders element by element what to_json of the whole array would
// render otherwise. Null elements stay, and a NULL array is no empty one.
func (r renderer) jsonArray(expr string, t model.Type) string {
	switch t.Kind {
	case model.KindNumeric:
		return expr + "::text[]"
	case model.KindInt8:
		if r.bigintString {
			return expr + "::text[]"
		}
	case model.KindText:
		if blankPadded(t) {
			return expr + "::text[]"
		}
	case model.KindFloat4, model.KindFloat8:
		return exactFloat("to_json(" + expr + ")")
	case model.KindTimestamptz, model.KindInterval, model.KindBytea:
		element := t
		element.Array = false
		return "CASE WHEN " + expr + " IS NOT NULL THEN ARRAY(SELECT " + r.jsonScalar("e.v", element) +
			" FROM unnest(" + expr + ") WITH ORDINALITY AS e (v, n) ORDER BY e.n) END"
	}
	return expr
}

// plain is the value as text for a response header.
func (r renderer) plain(expr string, t model.Type) string {
	if t.Array {
		return expr + "::text"
	}
	switch t.Kind {
	case model.KindTimestamptz:
		return timestamptz(expr)
	case model.KindTimestamp, model.KindDate:
		return "(to_json(" + expr + ") #>> '{}')"
	case model.KindInterval:
		return "idem.interval_iso(" + expr + ")"
	case model.KindBytea:
		return base64(expr)
	case model.KindFloat4, model.KindFloat8:
		return exactFloat(expr + "::text")
	}
	return expr + "::text"
}

// bind is the value as text that PostgreSQL's input function reads back as the
// same value: the parameter of a later step.
func (r renderer) bind(expr string, t model.Type) string {
	switch {
	case t.Kind == model.KindFloat4 || t.Kind == model.KindFloat8:
		return exactFloat(expr + "::text")
	case t.Array || t.Kind == model.KindBytea:
		return expr + "::text"
	}
	return r.plain(expr, t)
}

// exactFloat makes PostgreSQL print the shortest digits that give the same
// number. CASE fixes the order: the setting first, then the conversion; it
// ends with the transaction.
func exactFloat(expr string) string {
	return "CASE WHEN set_config('extra_float_digits', '1', true) = '1' THEN " + expr + " END"
}

// timestamptz is RFC 3339 in UTC.
func timestamptz(expr string) string { return "idem.rfc3339(" + expr + ")" }

// base64 is without the line ends that encode adds after 76 characters.
func base64(expr string) string { return "replace(encode(" + expr + ", 'base64'), chr(10), '')" }

// blankPadded reports whether a type is char(n).
func blankPadded(t model.Type) bool {
	name := strings.ToLower(strings.TrimPrefix(t.Name, "pg_catalog."))
	name = strings.TrimSuffix(name, "[]")
	switch base, _, _ := strings.Cut(name, "("); strings.TrimSpace(base) {
	case "char", "character", "bpchar":
		return true
	}
	return false
}
