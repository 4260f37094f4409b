package idem

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Versions of the fingerprint. Of different versions nothing can be said, so
// they count as equal; semantics of a record made before an upgrade.
const (
	printNone byte = 0 // nothing is compared: fingerprint=none
	printV1   byte = 1
)

const (
	printPart = 8 // bytes per part
	printSize = 1 + 4*printPart
)

// printNames are the parts of a request, in the order of the fingerprint.
var printNames = [4]string{"path", "query", "headers", "body"}

// printPlan holds the fields of the fingerprint, each part sorted by name.
type printPlan struct {
	none  bool
	parts [4][]printField
}

type printField struct {
	*boundField
	name string
}

// compilePrint picks the fields that count: all where names is nil. A name is
// a field's, or has its part in front: body.amount.
func compilePrint(fields []*boundField, names []string) (printPlan, error) {
	plan := printPlan{none: names != nil && len(names) == 0}
	found := map[string]bool{}
	for _, f := range fields {
		full := fromNames[f.From] + "." + f.Name
		picked := names == nil || slices.Contains(names, f.Name) || slices.Contains(names, full)
		found[f.Name], found[full] = true, true
		if picked && !f.Scope {
			part, name := printPartOf(f)
			plan.parts[part] = append(plan.parts[part], printField{f, name})
		}
	}
	for _, name := range names {
		if !found[name] {
			return plan, fmt.Errorf("the fingerprint names %s, which is no field", name)
		}
	}
	for _, part := range plan.parts {
		slices.SortFunc(part, func(a, b printField) int { return cmp.Compare(a.name, b.name) })
	}
	return plan, nil
}

// printPartOf: header names have no case; caller values stand beside them
// under a name that no header can have.
func printPartOf(f *boundField) (part int, name string) {
	switch f.From {
	case FromPath:
		return 0, f.Name
	case FromQuery:
		return 1, f.Name
	case FromHeader:
		return 2, strings.ToLower(f.Name)
	case FromCaller:
		return 2, "caller:" + f.Name
	default:
		return 3, f.Name
	}
}

// fingerprint is a version byte, then for each part the first 8 bytes of
// SHA-256 over its inputs. A part without inputs is zero.
func (d *decoder) fingerprint(values []Value) []byte {
	sum := make([]byte, printSize)
	if d.print.none {
		return sum
	}
	sum[0] = printV1
	var room [256]byte // most inputs fit, so that nothing is allocated for them
	buf := room[:0]
	for i, part := range d.print.parts {
		buf = buf[:0]
		for _, f := range part {
			buf = f.appendTo(buf, values[f.index])
		}
		if len(buf) > 0 {
			digest := sha256.Sum256(buf)
			copy(sum[1+i*printPart:], digest[:printPart])
		}
	}
	return sum
}

// appendTo adds name and value, each with its length in front, so that no two
// requests run together to the same bytes. Absent and null add nothing, unless
// has() tells them apart.
func (f printField) appendTo(buf []byte, v Value) []byte {
	if !v.sent() || v.Null && !f.asked {
		return buf
	}
	buf = appendSized(buf, f.name)
	if v.Null {
		return append(buf, 0)
	}
	return appendSized(append(buf, 1), f.printOf(v))
}

func appendSized(buf []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(buf, uint64(len(s))), s...)
}

// printOf is the form of a value that is compared; types play no part in it.
func (f *boundField) printOf(v Value) string {
	switch {
	case f.Kind == KindRecord && v.Elems == nil && !f.List:
		return printText(f.Kind, v.Text)
	case f.Kind == KindRecord:
		return string(f.printRecords(v.Elems))
	case f.Array && v.items != nil:
		return arrayLiteral(v.items, func(item Value) string { return printText(f.Kind, item.Text) })
	case f.Array:
		return v.Text
	default:
		return printText(f.Kind, v.Text)
	}
}

func (f *boundField) printRecords(elems [][]Value) []byte {
	dst := []byte{'['}
	for _, values := range elems {
		dst = append(dst, '{')
		for _, member := range f.sorted {
			v := values[member.index]
			if !v.sent() || v.Null {
				continue
			}
			dst = append(appendJSONString(dst, member.Name), ':')
			dst = append(appendJSONString(dst, member.printOf(v)), ',')
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// fingerprintDiff names the parts that differ. Fingerprints of other versions
// or lengths count as equal.
func fingerprintDiff(a, b []byte) []string {
	if len(a) != printSize || len(b) != printSize || a[0] != b[0] {
		return nil
	}
	var parts []string
	for i, name := range printNames {
		at := 1 + i*printPart
		if string(a[at:at+printPart]) != string(b[at:at+printPart]) {
			parts = append(parts, name)
		}
	}
	return parts
}
