package idem

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// typeMaps lends pgx's type maps: one is not safe for concurrent use, and
// making one is slow.
var typeMaps = sync.Pool{New: func() any { return pgtype.NewMap() }}

// optional is what every Optional[T] is.
type optional interface{ optionalValue() (any, bool) }

func (o Optional[T]) optionalValue() (any, bool) { return o.Value, o.Set }

// recordValuer is implemented by the emitted structs of list elements: their
// values in the order of Field.Elem.
type recordValuer interface{ IdemValues() []any }

// encodeInputs turns Go values, of the types that sqlc emits, into the values
// that decode gives for the same request. in are those of the operation's
// fields without the caller's, in order.
func encodeInputs(d *decoder, in []any, caller []any) ([]Value, *Error) {
	values := make([]Value, len(d.fields))
	var faults faultList
	if err := encodeFields(d.own, in, values, &faults); err != nil {
		return nil, err
	}
	if err := d.decodeCaller(caller, values); err != nil {
		return nil, err
	}
	if err := faults.answer(); err != nil {
		return nil, err
	}
	fillDefaults(d.fields, values)
	return values, nil
}

// decodeCaller reads what CallerFunc gave. A text that its field can't have is
// one that the function took over from the client. What is missing, or has another
// Go type, is the function's own fault, an internal error.
func (d *decoder) decodeCaller(caller []any, values []Value) *Error {
	var faults faultList
	if err := encodeFields(d.caller, caller, values, &faults); err != nil {
		return err
	}
	if len(faults.fields) > 0 {
		return &Error{Status: http.StatusBadRequest, Code: "caller-invalid",
			Title: "Some values of the caller are not valid", Fields: faults.fields}
	}
	for _, f := range d.caller {
		if v := values[f.index]; (!v.Set || v.Null) && !f.Nullable && f.filled == nil {
			return internalError(fmt.Errorf("%s must not be null", f.pointer))
		}
	}
	return nil
}

func encodeFields(fields []*boundField, in []any, values []Value, faults *faultList) *Error {
	if len(fields) != len(in) {
		return internalError(fmt.Errorf("%d values for %d fields", len(in), len(fields)))
	}
	for i, f := range fields {
		v, err := f.encode(in[i])
		if err != nil {
			fault := new(*encodeFault) // here, since it is allocated
			if !errors.As(err, fault) {
				return internalError(fmt.Errorf("field %s: %w", f.Name, err))
			}
			faults.add(f.pointer+(*fault).pointer, (*fault).valueFault)
		}
		values[f.index] = v
	}
	return nil
}

func internalError(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Title: "Internal error", cause: cause}
}

// encodeFault is a value that the field's type does not have; the pointer is
// of the element inside the field.
type encodeFault struct {
	*valueFault
	pointer string
}

func (e *encodeFault) Error() string { return e.detail }

func asError(fault *valueFault) error {
	if fault == nil {
		return nil
	}
	return &encodeFault{valueFault: fault}
}

// inside puts an error of an element in its place.
func inside(err error, token string) error {
	var fault *encodeFault
	if errors.As(err, &fault) {
		return &encodeFault{fault.valueFault, "/" + token + fault.pointer}
	}
	return err
}

func (f *boundField) encode(x any) (Value, error) {
	if o, ok := x.(optional); ok {
		inner, set := o.optionalValue()
		if !set {
			return Value{}, nil
		}
		x = inner
	}
	if x == nil {
		return nullValue(), nil
	}
	switch {
	case f.Kind == KindRecord:
		return f.encodeRecords(x)
	case f.Array:
		return f.encodeArray(x)
	}
	v, err := encodeScalar(f.Kind, x)
	if v.Null && f.Kind == KindBytea && !f.Nullable && isNilSlice(x) {
		return textValue(hexText(nil)), err
	}
	return v, err
}

func isNilSlice(x any) bool {
	v := reflect.ValueOf(x)
	return v.Kind() == reflect.Slice && v.IsNil()
}

// encodeScalar writes x as pgx would, then in canonical form.
func encodeScalar(k Kind, x any) (Value, error) {
	if s, ok := x.(string); ok { // most callers' scope; pgx would pass it on as it is
		return encodeText(k, s)
	}
	if k == KindInterval {
		if v, done, err := encodeInterval(x); done {
			return v, err
		}
	}
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	raw, err := m.Encode(kinds[k].oid, pgtype.TextFormatCode, x, []byte{})
	if err != nil {
		return Value{}, err
	}
	if raw == nil {
		return nullValue(), nil
	}
	return encodeText(k, string(raw))
}

func encodeText(k Kind, s string) (Value, error) {
	text, fault := canonText(k, s, true)
	if fault == nil && k == KindJSON && text == "null" {
		return nullValue(), nil
	}
	return textValue(text), asError(fault)
}

// encodeInterval takes the binary form, whose three numbers are exact. Strings
// are ISO 8601; they are left to encodeScalar.
func encodeInterval(x any) (v Value, done bool, err error) {
	if valuer, ok := x.(driver.Valuer); ok {
		if _, own := x.(pgtype.IntervalValuer); !own {
			if x, err = valuer.Value(); err != nil || x == nil {
				return nullValue(), true, err
			}
		}
	}
	if reflect.Indirect(reflect.ValueOf(x)).Kind() == reflect.String {
		return Value{}, false, nil
	}
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	raw, err := m.Encode(pgtype.IntervalOID, pgtype.BinaryFormatCode, x, []byte{})
	if err != nil || raw == nil {
		return nullValue(), true, err
	}
	if len(raw) != 16 {
		return Value{}, true, fmt.Errorf("an interval of %d bytes", len(raw))
	}
	s := span{
		months: int64(int32(binary.BigEndian.Uint32(raw[12:]))),
		days:   int64(int32(binary.BigEndian.Uint32(raw[8:]))),
		micros: int64(binary.BigEndian.Uint64(raw)),
	}
	text, fault := canonText(KindInterval, s.text(), true)
	return textValue(text), true, asError(fault)
}
