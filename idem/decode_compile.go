package idem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// compileFields prepares the inputs of an operation. Its error is a mistake in
// the descriptor.
func compileFields(op *Operation, unknownAllowed bool) (*decoder, error) {
	d := &decoder{
		ignore: unknownAllowed,
		query:  map[string]*boundField{},
		body:   &bodyNode{members: map[string]*bodyNode{}},
	}
	asked := askedFields(op)
	for i, field := range op.Fields {
		f, err := bindField(field, i, pointerOf(field))
		if err == nil {
			f.asked = asked[i]
			d.fields = append(d.fields, f)
			if f.From != FromCaller {
				d.own = append(d.own, f)
			}
			err = d.place(f, op.BodyWhole)
		}
		if err != nil {
			return nil, fmt.Errorf("operation %s: field %s: %w", op.Name, field.Name, err)
		}
	}
	if op.BodyWhole && d.whole == nil {
		return nil, fmt.Errorf("operation %s: BodyWhole without a field of the body", op.Name)
	}
	var err error
	if d.print, err = compilePrint(d.fields, op.Policy.Print); err != nil {
		return nil, fmt.Errorf("operation %s: %w", op.Name, err)
	}
	return d, nil
}

// askedFields are the fields that has() asks about.
func askedFields(op *Operation) map[int]bool {
	asked := map[int]bool{}
	for _, step := range op.Steps {
		lists := [][]Arg{step.Args, step.Unkeyed, step.Claim, step.Prior}
		if step.Intent != nil {
			lists = append(lists, step.Intent.Args)
		}
		for _, arg := range slices.Concat(lists...) {
			if arg.From == ArgHas {
				asked[arg.Field] = true
			}
		}
	}
	return asked
}

var fromNames = map[From]string{
	FromPath: "path", FromQuery: "query", FromHeader: "header", FromBody: "body", FromCaller: "caller",
}

func pointerOf(f Field) string {
	if f.From != FromBody {
		return fromNames[f.From] + ":" + f.Name
	}
	return "/" + strings.ReplaceAll(escapePointer(f.Name), ".", "/")
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer makes a reference token of a name (RFC 6901 section 3).
func escapePointer(name string) string { return pointerEscapes.Replace(name) }

// bindField checks a field and prepares its rules, default and members.
func bindField(field Field, index int, pointer string) (*boundField, error) {
	f := &boundField{Field: field, index: index, pointer: pointer}
	if !field.Kind.valid() {
		return nil, errors.New("unknown kind")
	}
	if (field.Kind == KindRecord) != (len(field.Elem) > 0) || field.Kind == KindRecord && field.Array || field.List && field.Kind != KindRecord {
		return nil, errors.New("a record has Elem, its list is List; nothing else has them")
	}
	if err := f.bindMembers(); err != nil {
		return nil, err
	}
	var err error
	if f.rules, err = compileRules(field); err != nil {
		return nil, err
	}
	return f, f.bindDefault()
}

func (f *boundField) bindMembers() error {
	f.members = make(map[string]*boundField, len(f.Elem))
	for i, field := range f.Elem {
		member, err := bindField(field, i, "")
		if err != nil {
			return fmt.Errorf("member %s: %w", field.Name, err)
		}
		if f.members[field.Name] != nil {
			return fmt.Errorf("member %s is there twice", field.Name)
		}
		f.members[field.Name] = member
		f.elem = append(f.elem, member)
	}
	f.sorted = slices.SortedFunc(slices.Values(f.elem), func(a, b *boundField) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

func (f *boundField) bindDefault() error {
	if f.Default == nil {
		return nil
	}
	v, fault := f.fromDefault(*f.Default)
	if fault != nil {
		return fmt.Errorf("its default %s", fault.detail)
	}
	v.filled = true
	f.filled = &v
	return nil
}

// fromDefault reads canonical text: of an array its literal, of a record JSON.
func (f *boundField) fromDefault(text string) (Value, *valueFault) {
	switch {
	case f.Kind == KindRecord:
		return f.fromDocument(text)
	case f.Array:
		items, fault := parseArray(f.Kind, text)
		return arrayValue(items), fault
	default:
		return f.fromTexts([]string{text}, true)
	}
}

// fromDocument reads a record or a list of records from JSON text.
func (f *boundField) fromDocument(text string) (Value, *valueFault) {
	var faults faultList
	r := &bodyReader{jsonScanner: jsonScanner{data: []byte(text)}, faults: &faults}
	v, err := r.value(f)
	if err == nil {
		err = r.end()
	}
	if err == nil {
		err = r.unknownMembers()
	}
	if err == nil && len(faults.fields) > 0 {
		return v, &valueFault{faults.fields[0].Code, faults.fields[0].Pointer + " " + faults.fields[0].Detail}
	}
	if err != nil {
		return v, &valueFault{"json", "must be a JSON document: " + err.Error()}
	}
	return v, nil
}

// required: a request must bring it.
func (f *boundField) required() bool { return f.Required && !f.Nullable && f.filled == nil }

// place puts the field where its part of the request is read.
func (d *decoder) place(f *boundField, whole bool) error {
	if f.Kind == KindRecord && f.From != FromBody {
		return errors.New("only the body has records")
	}
	switch f.From {
	case FromPath:
		d.path = append(d.path, f)
	case FromHeader:
		d.header = append(d.header, f)
	case FromCaller:
		d.caller = append(d.caller, f)
	case FromQuery:
		if d.query[f.Name] != nil {
			return errors.New("is there twice")
		}
		d.query[f.Name] = f
		d.queryList = append(d.queryList, f)
	case FromBody:
		d.bodyRequired = d.bodyRequired || f.required()
		return d.placeBody(f, whole)
	default:
		return errors.New("unknown part of a request")
	}
	return nil
}

func (d *decoder) placeBody(f *boundField, whole bool) error {
	if whole {
		if d.whole != nil {
			return errors.New("the body is another field already")
		}
		d.whole, f.pointer = f, ""
		return nil
	}
	node := d.body
	for name := range strings.SplitSeq(f.Name, ".") {
		if node.field != nil {
			return fmt.Errorf("is inside of the field %s", node.field.Name)
		}
		child := node.members[name]
		if child == nil {
			child = &bodyNode{members: map[string]*bodyNode{}}
			node.members[name] = child
		}
		node = child
	}
	if node.field != nil || len(node.members) > 0 {
		return errors.New("is there twice")
	}
	node.field = f
	return nil
}
