package idem

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// outputReader fills Go fields from a response body. Every value is read as
// PostgreSQL's text of its type by pgx, so numbers stay exact and every Go
// type that sqlc emits is filled the way sqlc's own code fills it.
type outputReader struct {
	jsonScanner
	types *pgtype.Map
	path  []byte // of the member, dots between nested names
	fail  error
}

// scanOutput reads a response body into the columns. Members that no column
// has are passed over, columns without a member stay as they are. The columns
// of a body that is no object have the path "".
func scanOutput(body []byte, columns []OutputColumn) error {
	m := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(m)
	r := &outputReader{jsonScanner: jsonScanner{data: body}, types: m}
	if r.peek(); r.pos == len(r.data) {
		return nil
	}
	err := r.value(columns)
	if err == nil {
		err = r.end()
	}
	switch {
	case r.fail != nil:
		return r.fail
	case err != nil:
		return fmt.Errorf("response body: %w", err)
	}
	return nil
}

var errStopped = Fail(0, "stopped", "the reader has failed")

// value reads what is at the reader's path: a column, an object that holds
// columns, or something unknown.
func (r *outputReader) value(columns []OutputColumn) *Error {
	column, below := findColumn(columns, r.path)
	c := r.peek()
	switch {
	case column != nil && column.List != nil:
		return r.list(column, c)
	case column != nil:
		return r.column(column, c)
	case below && c == '{':
		return r.object(func(name []byte) *Error {
			mark := len(r.path)
			if mark > 0 {
				r.path = append(r.path, '.')
			}
			r.path = append(r.path, name...)
			err := r.value(columns)
			r.path = r.path[:mark]
			return err
		})
	default:
		return r.skip()
	}
}

// findColumn looks for the column of a path, or for one further down.
func findColumn(columns []OutputColumn, path []byte) (column *OutputColumn, below bool) {
	for i := range columns {
		name := columns[i].Path
		if name == string(path) {
			return &columns[i], false
		}
		if len(path) == 0 || len(name) > len(path) && name[len(path)] == '.' && name[:len(path)] == string(path) {
			below = true
		}
	}
	return nil, below
}

func (r *outputReader) list(column *OutputColumn, c byte) *Error {
	if c != '[' {
		if c == 'n' {
			return r.skip()
		}
		return r.stop(errors.New("is not an array"))
	}
	path := r.path
	err := r.array(func(int) *Error {
		r.path = nil
		return r.value(column.List())
	})
	r.path = path
	return err
}

// stop ends the reading; scanOutput returns cause.
func (r *outputReader) stop(cause error) *Error {
	r.fail = fmt.Errorf("response member %s: %w", quoteShort(string(r.path)), cause)
	return errStopped
}

func (r *outputReader) column(column *OutputColumn, c byte) *Error {
	oid := kinds[column.Kind].oid
	var text []byte
	var err *Error
	var cause error
	if column.Array {
		oid = kinds[column.Kind].array
		text, err, cause = r.arrayText(column.Kind, c)
	} else {
		text, err, cause = r.scalarText(column.Kind, c)
	}
	if err != nil {
		return err
	}
	if cause == nil {
		cause = r.types.Scan(oid, pgtype.TextFormatCode, text, column.Into)
	}
	if cause != nil {
		return r.stop(cause)
	}
	return nil
}

// arrayText gives the array literal, nil for null.
func (r *outputReader) arrayText(k Kind, c byte) ([]byte, *Error, error) {
	if c == 'n' {
		return nil, r.skip(), nil
	}
	if c != '[' {
		return nil, nil, errors.New("is not an array")
	}
	items := []Value{}
	var cause error
	err := r.array(func(int) *Error {
		text, err, wrong := r.scalarText(k, r.peek())
		if wrong != nil {
			cause = wrong
			return errStopped
		}
		items = append(items, Value{Set: true, Null: text == nil, Text: string(text)})
		return err
	})
	if cause != nil {
		return nil, nil, cause
	}
	return []byte(arrayValue(items).Text), err, nil
}

// scalarText gives PostgreSQL's text of a value, nil for null.
func (r *outputReader) scalarText(k Kind, c byte) ([]byte, *Error, error) {
	if k == KindJSON || k == KindRecord {
		start := r.pos
		err := r.skip()
		text := r.data[start:r.pos]
		if string(text) == "null" {
			text = nil
		}
		return text, err, nil
	}
	if c == '{' || c == '[' {
		return nil, nil, fmt.Errorf("is not %s", kinds[k].json)
	}
	t, err := r.scalar()
	if err != nil || t.kind == tokenNull {
		return nil, err, nil
	}
	text, cause := outputText(k, t.text)
	return text, nil, cause
}

// outputText turns the JSON form of language.md section 4 into the text that
// pgx reads.
func outputText(k Kind, text []byte) ([]byte, error) {
	switch k {
	case KindBool:
		canonical, fault := canonBool(string(text), false)
		return []byte(canonical), asError(fault)
	case KindTimestamptz, KindTimestamp:
		if len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
			text = bytes.Replace(text, []byte("T"), []byte(" "), 1)
			return bytes.Replace(text, []byte("Z"), []byte("+00"), 1), nil
		}
		return text, nil
	case KindBytea:
		hex, fault := canonBytea(string(text))
		return []byte(hex), asError(fault)
	case KindInterval:
		s, fault := parseSpan(string(text))
		return []byte(s.postgresText()), asError(fault)
	default:
		return text, nil
	}
}
