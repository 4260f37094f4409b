package idem

import (
	"net/http"
)

// decoder turns requests of one operation into values, and values into a
// fingerprint. It is compiled once and safe for concurrent use.
type decoder struct {
	fields       []*boundField // of Operation.Fields, in order
	path, header []*boundField
	caller       []*boundField // those of the caller, in order
	own          []*boundField // all others, in order
	queryList    []*boundField
	query        map[string]*boundField // queryList by name
	body         *bodyNode              // the members of the body
	whole        *boundField            // or the field that the whole body is
	bodyRequired bool
	ignore       bool // unknown members and query parameters are ignored
	print        printPlan
}

// boundField is a field with all that can be prepared.
type boundField struct {
	Field
	index   int
	pointer string // of FieldError
	rules   []boundRule
	filled  *Value // the default
	asked   bool   // has() asks about it: null and absent differ
	elem    []*boundField
	members map[string]*boundField // elem by name
	sorted  []*boundField          // elem in the order of the fingerprint
}

// request is what a decoder reads from: the parts of an HTTP request, decoded
// no further than net/http does it.
type request struct {
	path     func(name string) string // decoded path parameters
	rawQuery string
	header   http.Header
	body     []byte
	caller   []any // values for the fields with FromCaller, in field order
}

// maxFieldErrors bounds the answer to a request that is wrong everywhere.
const maxFieldErrors = 100

// faultList gathers what is wrong with the fields of one request.
type faultList struct {
	fields   []FieldError
	declared *Problem // the declared answer of all of them, nil if they have none in common
}

func (l *faultList) add(pointer string, fault *valueFault) { l.addDeclared(pointer, fault, nil) }

// addDeclared adds a fault with the answer that is declared for it, if any.
func (l *faultList) addDeclared(pointer string, fault *valueFault, declared *Problem) {
	if fault == nil {
		return
	}
	if len(l.fields) == 0 {
		l.declared = declared
	} else if l.declared != nil && (declared == nil || *declared != *l.declared) {
		l.declared = nil
	}
	if len(l.fields) < maxFieldErrors {
		l.fields = append(l.fields, FieldError{Pointer: pointer, Code: fault.code, Detail: fault.detail})
	}
}

// full reports whether no more faults are listed.
func (l *faultList) full() bool { return len(l.fields) >= maxFieldErrors }

// answer is the 422 that names every field, or the declared answer if it is the
// one of all of them; nil if there is nothing wrong.
func (l *faultList) answer() *Error {
	switch {
	case len(l.fields) == 0:
		return nil
	case l.declared != nil:
		return &Error{Status: l.declared.Status, Code: l.declared.Code, Title: l.declared.Title, Fields: l.fields}
	}
	return &Error{
		Status: http.StatusUnprocessableEntity, Code: "input-invalid",
		Title: "Some inputs are not valid", Fields: l.fields,
	}
}

// decode gives one value per field of the operation. Its error is a 400 for
// what can't be read (syntax, duplicates, unknown names) and a 422, with every
// field at once, for values that are not of their type.
func (d *decoder) decode(r request) ([]Value, *Error) {
	values := make([]Value, len(d.fields))
	var faults faultList
	d.decodePath(r, values, &faults)
	if err := d.decodeQuery(r.rawQuery, values, &faults); err != nil {
		return nil, err
	}
	if err := d.decodeHeader(r.header, values, &faults); err != nil {
		return nil, err
	}
	if err := d.decodeBody(r.body, values, &faults); err != nil {
		return nil, err
	}
	if err := d.decodeCaller(r.caller, values); err != nil {
		return nil, err
	}
	if err := faults.answer(); err != nil {
		return nil, err
	}
	fillDefaults(d.fields, values)
	return values, nil
}

func fillDefaults(fields []*boundField, values []Value) {
	for i, f := range fields {
		if !values[i].Set && f.filled != nil {
			values[i] = *f.filled
		}
	}
}

// fromTexts makes the value of a field outside the body: one text, or for an
// array one per element.
func (f *boundField) fromTexts(texts []string, lenient bool) (Value, *valueFault) {
	if !f.Array {
		text, fault := canonText(f.Kind, texts[0], lenient)
		if fault == nil && f.Kind == KindJSON && text == "null" {
			return nullValue(), nil
		}
		return textValue(text), fault
	}
	items := make([]Value, len(texts))
	for i, s := range texts {
		text, fault := canonText(f.Kind, s, lenient)
		if fault != nil {
			return Value{}, fault
		}
		items[i] = textValue(text)
	}
	return arrayValue(items), nil
}
