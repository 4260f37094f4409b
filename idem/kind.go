package idem

import "github.com/jackc/pgx/v5/pgtype"

// kindInfo is what the runtime must know about a kind beside its parser.
type kindInfo struct {
	name       string
	oid, array uint32 // the PostgreSQL types that stand for it in pgx's type map
	json       string // the JSON form, for messages
}

var kinds = [...]kindInfo{
	KindText:        {"Text", pgtype.TextOID, pgtype.TextArrayOID, "a string"},
	KindBool:        {"Bool", pgtype.BoolOID, pgtype.BoolArrayOID, "true or false"},
	KindInt2:        {"Int2", pgtype.Int2OID, pgtype.Int2ArrayOID, "an integer"},
	KindInt4:        {"Int4", pgtype.Int4OID, pgtype.Int4ArrayOID, "an integer"},
	KindInt8:        {"Int8", pgtype.Int8OID, pgtype.Int8ArrayOID, "an integer"},
	KindNumeric:     {"Numeric", pgtype.NumericOID, pgtype.NumericArrayOID, "a decimal number, as a string or a number"},
	KindFloat4:      {"Float4", pgtype.Float4OID, pgtype.Float4ArrayOID, "a number"},
	KindFloat8:      {"Float8", pgtype.Float8OID, pgtype.Float8ArrayOID, "a number"},
	KindUUID:        {"UUID", pgtype.UUIDOID, pgtype.UUIDArrayOID, "a UUID as a string"},
	KindTimestamptz: {"Timestamptz", pgtype.TimestamptzOID, pgtype.TimestamptzArrayOID, "an RFC 3339 time with zone, as a string"},
	KindTimestamp:   {"Timestamp", pgtype.TimestampOID, pgtype.TimestampArrayOID, "a date and time without zone, as a string"},
	KindDate:        {"Date", pgtype.DateOID, pgtype.DateArrayOID, "a date YYYY-MM-DD, as a string"},
	KindTime:        {"Time", pgtype.TimeOID, pgtype.TimeArrayOID, "a time of day hh:mm:ss, as a string"},
	KindInterval:    {"Interval", pgtype.IntervalOID, pgtype.IntervalArrayOID, "an ISO 8601 duration, as a string"},
	KindBytea:       {"Bytea", pgtype.ByteaOID, pgtype.ByteaArrayOID, "base64, as a string"},
	KindJSON:        {"JSON", pgtype.JSONOID, pgtype.JSONArrayOID, "a JSON value"},
	KindRecord:      {"Record", pgtype.JSONOID, pgtype.JSONArrayOID, "an object"},
}

// String is the kind's name, as in KindInt8 without the prefix.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return "unknown kind"
}

func (k Kind) valid() bool { return int(k) < len(kinds) }

func (k Kind) integer() bool { return k == KindInt2 || k == KindInt4 || k == KindInt8 }

// bits is the size of an integer or floating-point kind.
func (k Kind) bits() int {
	switch k {
	case KindInt2:
		return 16
	case KindInt4, KindFloat4:
		return 32
	default:
		return 64
	}
}

// ordered: bounds (CheckMin and kin) have a meaning that does not depend on
// a collation.
func (k Kind) ordered() bool {
	switch k {
	case KindText, KindBool, KindUUID, KindBytea, KindJSON, KindRecord:
		return false
	default:
		return true
	}
}
