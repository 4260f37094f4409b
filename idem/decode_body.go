package idem

import (
	"net/http"
	"strconv"
	"strings"
)

// bodyNode is a member of the declared body: a field, or an object that holds
// more of them.
type bodyNode struct {
	field   *boundField
	members map[string]*bodyNode
}

// bodyReader decodes one body against the declared members.
type bodyReader struct {
	jsonScanner
	ignore  bool
	values  []Value
	pointer []byte // JSON pointer of where the reader is
	faults  *faultList
	unknown []FieldError
}

func (d *decoder) decodeBody(body []byte, values []Value, faults *faultList) *Error {
	r := &bodyReader{jsonScanner: jsonScanner{data: body}, ignore: d.ignore, values: values, faults: faults}
	if d.whole != nil && d.whole.Kind == KindBytea {
		if len(body) > 0 || d.bodyRequired {
			values[d.whole.index] = textValue(hexText(body))
		}
		return nil
	}
	if r.peek(); r.pos == len(r.data) {
		return d.emptyBody()
	}
	var err *Error
	if d.whole != nil {
		values[d.whole.index], err = r.value(d.whole)
	} else {
		err = r.members(d.body)
	}
	if err == nil {
		err = r.end()
	}
	if err == nil {
		err = r.unknownMembers()
	}
	return err
}

// emptyBody stands for {} where that would do.
func (d *decoder) emptyBody() *Error {
	if !d.bodyRequired {
		return nil
	}
	return &Error{Status: http.StatusBadRequest, Code: "body-missing", Title: "The request has no body"}
}

func (r *bodyReader) unknownMembers() *Error {
	if len(r.unknown) == 0 {
		return nil
	}
	return &Error{
		Status: http.StatusBadRequest, Code: "member-unknown",
		Title: "The body has members that the operation does not know", Fields: r.unknown,
	}
}

// push extends the pointer by a reference token (RFC 6901); pop takes it back.
func (r *bodyReader) push(name []byte) (mark int) {
	mark = len(r.pointer)
	r.pointer = append(r.pointer, '/')
	for _, c := range name {
		switch c {
		case '~':
			r.pointer = append(r.pointer, "~0"...)
		case '/':
			r.pointer = append(r.pointer, "~1"...)
		default:
			r.pointer = append(r.pointer, c)
		}
	}
	return mark
}

func (r *bodyReader) pushIndex(i int) (mark int) {
	mark = len(r.pointer)
	r.pointer = strconv.AppendInt(append(r.pointer, '/'), int64(i), 10)
	return mark
}

func (r *bodyReader) pop(mark int) { r.pointer = r.pointer[:mark] }

func (r *bodyReader) refuse(fault *valueFault) {
	if fault != nil && !r.faults.full() {
		r.faults.add(string(r.pointer), fault)
	}
}

// members reads an object of the declared body.
func (r *bodyReader) members(node *bodyNode) *Error {
	if r.peek() != '{' {
		return r.notObject()
	}
	return r.object(func(name []byte) *Error {
		child := node.members[string(name)]
		if child == nil {
			return r.unknownMember(name)
		}
		mark := r.push(name)
		err := r.member(child)
		r.pop(mark)
		return err
	})
}

// member reads a declared member. Null in place of an object is the object
// with all its members absent.
func (r *bodyReader) member(node *bodyNode) *Error {
	if node.field == nil {
		if r.peek() == 'n' {
			_, err := r.scalar()
			return err
		}
		return r.members(node)
	}
	v, err := r.value(node.field)
	r.values[node.field.index] = v
	return err
}

// notObject reads a value of another form where an object belongs. The body
// itself must be one, so there it is malformed.
func (r *bodyReader) notObject() *Error {
	if err := r.skip(); err != nil {
		return err
	}
	if len(r.pointer) == 0 {
		return malformedBody("the body must be an object")
	}
	r.refuse(wantKind(KindRecord))
	return nil
}

func (r *bodyReader) unknownMember(name []byte) *Error {
	if !r.ignore && len(r.unknown) < maxFieldErrors {
		mark := r.push(name)
		pointer := string(r.pointer)
		if len(pointer) > 200 {
			pointer = strings.ToValidUTF8(pointer[:200], "") + "…"
		}
		r.unknown = append(r.unknown, FieldError{Pointer: pointer, Code: "unknown", Detail: "is not a member of this request"})
		r.pop(mark)
	}
	return r.skip()
}

// value reads the value of a field.
func (r *bodyReader) value(f *boundField) (Value, *Error) {
	c := r.peek()
	switch {
	case c == 'n':
		_, err := r.scalar()
		return nullValue(), err
	case f.Kind == KindRecord && f.List:
		return r.list(f, c)
	case f.Kind == KindRecord:
		return r.record(f)
	case f.Array:
		return r.arrayOf(f, c)
	default:
		return r.single(f, c)
	}
}

// single reads a scalar, or for json any value.
func (r *bodyReader) single(f *boundField, c byte) (Value, *Error) {
	if f.Kind == KindJSON {
		return r.document()
	}
	if c == '{' || c == '[' {
		r.refuse(wantKind(f.Kind))
		return Value{}, r.skip()
	}
	t, err := r.scalar()
	if err != nil {
		return Value{}, err
	}
	text, fault := canonToken(f.Kind, t)
	r.refuse(fault)
	return textValue(text), nil
}

// document reads a value that is kept as it was sent.
func (r *bodyReader) document() (Value, *Error) {
	start := r.pos
	r.unstorable = nil
	if err := r.skip(); err != nil {
		return Value{}, err
	}
	r.refuse(r.unstorable)
	return textValue(string(r.data[start:r.pos])), nil
}

func (r *bodyReader) arrayOf(f *boundField, c byte) (Value, *Error) {
	if c != '[' {
		r.refuse(&valueFault{"type", "must be an array"})
		return Value{}, r.skip()
	}
	var items []Value
	err := r.array(func(i int) *Error {
		mark := r.pushIndex(i)
		var item Value
		var err *Error
		if c := r.peek(); c == 'n' {
			item = nullValue()
			if f.NoNulls {
				r.refuse(&valueFault{"null", "must not be null"})
			}
			_, err = r.scalar()
		} else {
			item, err = r.single(f, c)
		}
		items = append(items, item)
		r.pop(mark)
		return err
	})
	return arrayValue(items), err
}

func (r *bodyReader) list(f *boundField, c byte) (Value, *Error) {
	if c != '[' {
		r.refuse(&valueFault{"type", "must be an array of objects"})
		return Value{}, r.skip()
	}
	elems := [][]Value{}
	err := r.array(func(i int) *Error {
		mark := r.pushIndex(i)
		values, err := r.elem(f)
		elems = append(elems, values)
		r.pop(mark)
		return err
	})
	if err != nil || len(r.faults.fields) > 0 {
		return Value{}, err
	}
	return listValue(f, elems), nil
}

func (r *bodyReader) record(f *boundField) (Value, *Error) {
	values, err := r.elem(f)
	if err != nil || len(r.faults.fields) > 0 {
		return Value{}, err
	}
	return recordValue(f, values), nil
}

// elem reads the members of a record.
func (r *bodyReader) elem(f *boundField) ([]Value, *Error) {
	if r.peek() != '{' {
		r.refuse(wantKind(KindRecord))
		return nil, r.skip()
	}
	values := make([]Value, len(f.elem))
	err := r.object(func(name []byte) *Error {
		member := f.members[string(name)]
		if member == nil {
			return r.unknownMember(name)
		}
		mark := r.push(name)
		v, err := r.value(member)
		values[member.index] = v
		r.pop(mark)
		return err
	})
	fillDefaults(f.elem, values)
	return values, err
}

// canonToken gives the canonical text of a JSON scalar, if that form of JSON
// is one of the kind's.
func canonToken(k Kind, t token) (string, *valueFault) {
	text := string(t.text)
	if !jsonFormOf(k, t.kind, text) {
		return "", wantKind(k)
	}
	return canonText(k, text, false)
}

func jsonFormOf(k Kind, form tokenKind, text string) bool {
	switch k {
	case KindBool:
		return form == tokenBool
	case KindInt2, KindInt4:
		return form == tokenNumber
	case KindInt8, KindNumeric:
		return form == tokenNumber || form == tokenString
	case KindFloat4, KindFloat8:
		special := text == "NaN" || text == "Infinity" || text == "-Infinity"
		return form == tokenNumber || form == tokenString && special
	default:
		return form == tokenString
	}
}
