package idem

import "strconv"

// check applies what the schema says before the transaction: required, null,
// length, enum and Checks. Its error is a 422 with one entry per field.
// Null passes every rule, as in SQL. What a caller brings is not checked: the
// client could do nothing about it.
func (d *decoder) check(values []Value) *Error {
	var faults faultList
	for i, f := range d.fields {
		if f.From != FromCaller {
			f.check(f.pointer, values[i], &faults)
		}
	}
	return faults.answer()
}

func (f *boundField) check(pointer string, v Value, faults *faultList) {
	switch {
	case !v.Set:
		if f.required() {
			faults.add(pointer, &valueFault{"required", "is required"})
		}
	case v.Null:
		if !f.Nullable {
			faults.add(pointer, &valueFault{"null", "must not be null"})
		}
	case f.Kind == KindRecord:
		f.checkRecords(pointer, v.Elems, faults)
	case f.Array:
		for i, item := range v.items {
			if !item.Null {
				f.checkText(pointer+"/"+strconv.Itoa(i), item.Text, faults)
			}
		}
	default:
		f.checkText(pointer, v.Text, faults)
	}
}

// checkText reports the first rule that does not hold.
func (f *boundField) checkText(pointer, text string, faults *faultList) {
	for _, r := range f.rules {
		if fault := r.breaks(text); fault != nil {
			faults.addDeclared(pointer, fault, r.declared)
			return
		}
	}
}

func (f *boundField) checkRecords(pointer string, elems [][]Value, faults *faultList) {
	for i, values := range elems {
		base := pointer + "/"
		if f.List {
			base += strconv.Itoa(i) + "/"
		}
		for j, member := range f.elem {
			if faults.full() {
				return
			}
			member.check(base+escapePointer(member.Name), values[j], faults)
		}
	}
}
