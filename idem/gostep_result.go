package idem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// GoResult is a value that a Go function returns.
type GoResult struct {
	Name     string // the member of an answer
	Kind     Kind
	Array    bool
	Nullable bool
	Enum     []string
	JSONB    bool // KindJSON: jsonb, which the answer shows in its one form; json stays as it is
}

// values reads what the function returned. A value that its type does not have is
// a fault of the service, not of a client.
func (g *GoStep) values(results []any) ([]Value, error) {
	if len(results) != len(g.Out) {
		return nil, fmt.Errorf("it returned %d values, not %d", len(results), len(g.Out))
	}
	values := make([]Value, len(results))
	for i := range g.Out {
		out := &g.Out[i]
		v, err := out.read(results[i])
		if err == nil && v.Null && !out.Nullable {
			err = errors.New("must not be null")
		}
		if err != nil {
			return nil, fmt.Errorf("its result %s: %w", out.Name, err)
		}
		values[i] = v
	}
	return values, nil
}

func (r *GoResult) read(x any) (Value, error) {
	if x == nil {
		return nullValue(), nil
	}
	if !r.Array {
		v, err := r.scalar(x)
		if v.Null && r.Kind == KindBytea && !r.Nullable && isNilSlice(x) {
			return textValue(hexText(nil)), err
		}
		return v, err
	}
	length, at, err := elementsOf(x)
	if err != nil {
		return Value{}, err
	}
	if length < 0 && r.Nullable {
		return nullValue(), nil
	}
	items := make([]Value, max(length, 0))
	for i := range items {
		item := at(i)
		if items[i] = nullValue(); item == nil {
			continue
		}
		if items[i], err = r.scalar(item); err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return arrayValue(items), nil
}

// scalar is one value as text. Numbers keep what the canonical form of an input
// drops: a result may be NaN, or the negative zero.
func (r *GoResult) scalar(x any) (Value, error) {
	v, err := encodeResult(r.Kind, x)
	if err != nil || v.Null || r.Enum == nil || slices.Contains(r.Enum, v.Text) {
		return v, err
	}
	return v, fmt.Errorf("must be one of %s", strings.Join(r.Enum, ", "))
}

func encodeResult(k Kind, x any) (Value, error) {
	switch k {
	case KindNumeric, KindFloat4, KindFloat8:
	case KindJSON:
		return encodeDocument(x)
	default:
		return encodeScalar(k, x)
	}
	text, ok := x.(string)
	if !ok {
		m := typeMaps.Get().(*pgtype.Map)
		defer typeMaps.Put(m)
		raw, err := m.Encode(kinds[k].oid, pgtype.TextFormatCode, x, []byte{})
		if err != nil {
			return Value{}, err
		}
		if raw == nil {
			return nullValue(), nil
		}
		text = string(raw)
	}
	if k != KindNumeric {
		out, err := floatText(k, text)
		return textValue(out), err
	}
	switch text {
	case "NaN", "Infinity", "-Infinity":
		return textValue(text), nil
	}
	out, fault := canonNumeric(text)
	return textValue(out), asError(fault)
}

// encodeDocument keeps the text of a document: null is a document too, nil is
// none.
func encodeDocument(x any) (Value, error) {
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	raw, err := m.Encode(pgtype.JSONOID, pgtype.TextFormatCode, x, []byte{})
	if err != nil {
		return Value{}, err
	}
	if raw == nil {
		return nullValue(), nil
	}
	if _, fault := canonDocument(string(raw)); fault != nil {
		return Value{}, asError(fault)
	}
	return textValue(string(raw)), nil
}

// textsOf are the values as parameters of later steps.
func textsOf(values []Value) [][]byte {
	texts := make([][]byte, len(values))
	for i, v := range values {
		texts[i] = paramOf(v)
	}
	return texts
}

// row is what the answer shows of the step.
func (g *GoStep) row(values []Value) stepRow {
	row := stepRow{row: []byte{'{'}}
	for i := range g.Out {
		out := &g.Out[i]
		text := appendResult(nil, out, g.BigintString, values[i])
		row.columns = append(row.columns, text)
		if i > 0 {
			row.row = append(row.row, ',')
		}
		row.row = append(appendSQLString(row.row, out.Name), ':')
		row.row = append(row.row, text...)
	}
	row.row = append(row.row, '}')
	return row
}
