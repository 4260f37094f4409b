package idem

import (
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// optionalTarget is what every *Optional[T] is.
type optionalTarget interface{ optionalTarget() any }

func (o *Optional[T]) optionalTarget() any { o.Set = true; return &o.Value }

// recordTarget is implemented by pointers to the emitted structs of list
// elements: pointers to their members in the order of Field.Elem.
type recordTarget interface{ IdemFields() []any }

// scanArgs fills the Go values that the function of a step takes.
func (b binding) scanArgs(st *step, into []any) error {
	if len(into) != len(st.in) {
		return fmt.Errorf("idem: the Go function %s takes %d values, not %d", st.function(), len(st.in), len(into))
	}
	for i, f := range st.in {
		if err := f.scan(b.taken(st.Args[i]), into[i]); err != nil {
			return fmt.Errorf("idem: the Go function %s: input %s: %w", st.function(), f.Name, err)
		}
	}
	return nil
}

// taken is the value of an argument.
func (b binding) taken(arg Arg) Value {
	if arg.From == ArgField {
		return b.inv.values[arg.Field]
	}
	if text := b.value(arg); text != nil {
		return textValue(string(text))
	}
	return nullValue()
}

// scan fills a Go value, of the type that sqlc emits, the way sqlc's own code
// fills it. An absent Optional stays as it is.
func (f *boundField) scan(v Value, into any) error {
	if o, ok := into.(optionalTarget); ok {
		if !v.Set {
			return nil
		}
		into = o.optionalTarget()
	}
	if f.Kind == KindRecord {
		return f.scanRecords(v, into)
	}
	var text []byte
	if v.Set && !v.Null {
		text = f.pgxText(v)
	}
	oid := kinds[f.Kind].oid
	if f.Array {
		oid = kinds[f.Kind].array
	}
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	return m.Scan(oid, pgtype.TextFormatCode, text, into)
}

// pgxText is the text that pgx reads.
func (f *boundField) pgxText(v Value) []byte {
	if !f.Array {
		return pgxScalar(f.Kind, v.Text)
	}
	switch f.Kind {
	case KindTimestamptz, KindTimestamp, KindInterval:
	default:
		return []byte(v.Text)
	}
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	var texts []*string
	if err := m.Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, []byte(v.Text), &texts); err != nil {
		return []byte(v.Text) // for pgx to refuse
	}
	items := make([]Value, len(texts))
	for i, s := range texts {
		if s == nil {
			items[i] = nullValue()
			continue
		}
		items[i] = textValue(string(pgxScalar(f.Kind, *s)))
	}
	return []byte(arrayValue(items).Text)
}

// pgxScalar turns the forms that values travel in into those that PostgreSQL
// prints.
func pgxScalar(k Kind, text string) []byte {
	switch k {
	case KindTimestamptz, KindTimestamp, KindInterval:
		if k == KindInterval && (text == "" || text[0] != 'P') {
			return []byte(text) // PostgreSQL's own
		}
		if out, err := outputText(k, []byte(text)); err == nil {
			return out
		}
	}
	return []byte(text)
}

// scanRecords fills a slice of emitted structs, or a pointer to one.
func (f *boundField) scanRecords(v Value, into any) error {
	target := reflect.ValueOf(into).Elem()
	if !v.Set || v.Null {
		target.SetZero()
		return nil
	}
	if !f.List {
		if target.Kind() == reflect.Pointer {
			target.Set(reflect.New(target.Type().Elem()))
			target = target.Elem()
		}
		return f.scanRecord(v.Elems[0], target)
	}
	list := reflect.MakeSlice(target.Type(), len(v.Elems), len(v.Elems))
	for i, values := range v.Elems {
		if err := f.scanRecord(values, list.Index(i)); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	target.Set(list)
	return nil
}

func (f *boundField) scanRecord(values []Value, target reflect.Value) error {
	record, ok := target.Addr().Interface().(recordTarget)
	if !ok {
		return fmt.Errorf("%s has no IdemFields", target.Type())
	}
	into := record.IdemFields()
	if len(into) != len(f.elem) || len(values) != len(f.elem) {
		return fmt.Errorf("%s has %d members, not %d", target.Type(), len(into), len(f.elem))
	}
	for i, member := range f.elem {
		if err := member.scan(values[i], into[i]); err != nil {
			return fmt.Errorf("member %s: %w", member.Name, err)
		}
	}
	return nil
}
