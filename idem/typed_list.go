package idem

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"
)

// encodeArray takes slices and pgx's own array types. A nil slice is null
// where null is a value, else an empty array.
func (f *boundField) encodeArray(x any) (Value, error) {
	length, at, err := elementsOf(x)
	if err != nil {
		return Value{}, err
	}
	if length < 0 {
		if f.Nullable {
			return nullValue(), nil
		}
		length = 0
	}
	items := make([]Value, length)
	for i := range items {
		if items[i], err = encodeItem(f.Kind, at(i)); err != nil {
			return Value{}, inside(err, strconv.Itoa(i))
		}
	}
	return arrayValue(items), nil
}

func encodeItem(k Kind, x any) (Value, error) {
	if x == nil {
		return nullValue(), nil
	}
	return encodeScalar(k, x)
}

// elementsOf gives the number of elements, -1 for a nil array, and a way to
// get at each.
func elementsOf(x any) (length int, at func(int) any, err error) {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return -1, nil, nil
		}
		if _, ok := x.(pgtype.ArrayGetter); !ok {
			x = v.Elem().Interface()
		}
	}
	if getter, ok := x.(pgtype.ArrayGetter); ok {
		dimensions := getter.Dimensions()
		switch {
		case dimensions == nil:
			return -1, nil, nil
		case len(dimensions) == 0:
			return 0, getter.Index, nil
		case len(dimensions) > 1:
			return 0, nil, asError(&valueFault{"type", "must have one dimension"})
		}
		return int(dimensions[0].Length), getter.Index, nil
	}
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Slice {
		return 0, nil, fmt.Errorf("%T is not an array", x)
	}
	if v.IsNil() {
		return -1, nil, nil
	}
	return v.Len(), func(i int) any { return v.Index(i).Interface() }, nil
}

// encodeRecords takes emitted element structs: one, or a slice of them.
func (f *boundField) encodeRecords(x any) (Value, error) {
	if !f.List {
		if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
			return nullValue(), nil
		}
		values, err := f.encodeRecord(x)
		if err != nil {
			return Value{}, err
		}
		return recordValue(f, values), nil
	}
	length, at, err := elementsOf(x)
	if err != nil {
		return Value{}, err
	}
	if length < 0 {
		if f.Nullable {
			return nullValue(), nil
		}
		length = 0
	}
	elems := make([][]Value, length)
	for i := range elems {
		if elems[i], err = f.encodeRecord(at(i)); err != nil {
			return Value{}, inside(err, strconv.Itoa(i))
		}
	}
	return listValue(f, elems), nil
}

func (f *boundField) encodeRecord(x any) ([]Value, error) {
	record, ok := x.(recordValuer)
	if !ok {
		return nil, fmt.Errorf("%T has no IdemValues", x)
	}
	in := record.IdemValues()
	if len(in) != len(f.elem) {
		return nil, fmt.Errorf("%T has %d values, not %d", x, len(in), len(f.elem))
	}
	values := make([]Value, len(in))
	for i, member := range f.elem {
		v, err := member.encode(in[i])
		if err != nil {
			return nil, inside(err, escapePointer(member.Name))
		}
		values[i] = v
	}
	fillDefaults(f.elem, values)
	return values, nil
}

// parseArray reads PostgreSQL's array literal.
func parseArray(k Kind, literal string) ([]Value, *valueFault) {
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	var texts []*string
	if err := m.Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, []byte(literal), &texts); err != nil {
		return nil, &valueFault{"type", "must be an array literal"}
	}
	items := make([]Value, len(texts))
	for i, s := range texts {
		if s == nil {
			items[i] = nullValue()
			continue
		}
		text, fault := canonText(k, *s, true)
		if fault != nil {
			return nil, fault
		}
		items[i] = textValue(text)
	}
	return items, nil
}
