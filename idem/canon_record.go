package idem

// recordValue is the value of one record.
func recordValue(f *boundField, values []Value) Value {
	return Value{Set: true, Text: string(appendRecord(nil, f.elem, values)), Elems: [][]Value{values}}
}

// listValue is the value of a list of records.
func listValue(f *boundField, elems [][]Value) Value {
	text := []byte{'['}
	for i, values := range elems {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendRecord(text, f.elem, values)
	}
	return Value{Set: true, Text: string(append(text, ']')), Elems: elems}
}

// appendRecord writes the object that jsonb_to_recordset reads: members in
// declared order, those without a value left out.
func appendRecord(dst []byte, elem []*boundField, values []Value) []byte {
	dst = append(dst, '{')
	first := true
	for i, f := range elem {
		v := values[i]
		if !v.Set || v.Null {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendJSONString(dst, f.Name), ':')
		dst = f.appendMember(dst, v.Text)
	}
	return append(dst, '}')
}

// appendMember: what is not a JSON value of its own goes as a string, which
// PostgreSQL reads with the type's input function. So do arrays: as a JSON
// array, one of json values would be read as an array of more dimensions.
func (f *boundField) appendMember(dst []byte, text string) []byte {
	if f.Array {
		return appendJSONString(dst, text)
	}
	switch f.Kind {
	case KindBool, KindInt2, KindInt4, KindInt8, KindJSON, KindRecord:
		return append(dst, text...)
	default:
		return appendJSONString(dst, text)
	}
}
