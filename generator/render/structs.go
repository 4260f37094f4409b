package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// structView is an emitted struct type.
type structView struct {
	Name    string
	Doc     string
	Element bool // has the method of its direction: IdemValues, or columns
	Fields  []fieldView
	Values  string       // inputs: the fields in order, separated by commas
	Columns []columnView // outputs
}

// fieldView is a field of an emitted struct.
type fieldView struct{ Name, Type, Comment string }

// columnView is one idem.OutputColumn.
type columnView struct {
	Path  string // quoted
	Kind  string
	Array bool
	Into  string // Go expression of the field
	List  string // element type of a list
}

// node is a member of a request or response.
type node struct {
	form     form
	name     string // as clients write it
	goName   string
	goType   string // formValue: as the file writes it
	optional bool   // formRecord: may be absent
	kind     model.Kind
	array    bool
	elem     string // formList: what an element is called, goName if empty
	field    string // Go expression of the field; set by resolve
	children []*node
}

// form tells nodes apart.
type form uint8

const (
	formValue  form = iota
	formObject      // a nested struct; its members count one by one
	formRecord      // a struct that is one value
	formList        // an array of structs
)

// insert adds a leaf under its dotted name: the parts before the last are
// objects.
func (n *node) insert(name string, leaf *node) {
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		n = n.object(part)
	}
	leaf.name = parts[last]
	if last > 0 || leaf.goName == "" {
		leaf.goName = goName(leaf.name)
	}
	n.children = append(n.children, leaf)
}

// object finds or adds the object called name.
func (n *node) object(name string) *node {
	i := slices.IndexFunc(n.children, func(c *node) bool { return c.form == formObject && c.name == name })
	if i >= 0 {
		return n.children[i]
	}
	c := &node{form: formObject, name: name, goName: goName(name)}
	n.children = append(n.children, c)
	return c
}

// resolve gives each field a name that no other field of its struct has, and
// its Go expression: receiver is the struct's own, elem that of records and
// list elements below it.
func (n *node) resolve(receiver, elem string) {
	taken := nameSet{"IdemValues": true, "IdemFields": true} // the element's methods
	for _, c := range n.children {
		c.goName = taken.take(c.goName)
		c.field = receiver + "." + c.goName
		switch c.form {
		case formObject:
			c.resolve(c.field, elem)
		case formRecord, formList:
			c.resolve(elem, elem)
		case formValue:
		}
	}
}

// structs turns a tree into its struct types, the root's first.
func (n *node) structs(name, doc string) []structView {
	out := []structView{{Name: name, Doc: doc, Element: n.form == formRecord || n.form == formList}}
	for _, c := range n.children {
		field := fieldView{Name: c.goName, Type: c.goType}
		if c.form != formValue {
			typ := c.typeName(name)
			field.Type = c.reference(typ)
			out = append(out, c.structs(typ, c.doc(name))...)
		}
		out[0].Fields = append(out[0].Fields, field)
	}
	out[0].Columns = n.columns(name, "")
	out[0].Values = n.values()
	return out
}

func (n *node) typeName(parent string) string {
	if n.elem != "" {
		return parent + n.elem
	}
	return parent + n.goName
}

func (n *node) reference(typ string) string {
	switch {
	case n.form == formList:
		return "[]" + typ
	case n.optional:
		return "*" + typ
	}
	return typ
}

func (n *node) doc(parent string) string {
	if n.form == formList {
		return "an element of " + parent + "." + n.goName
	}
	return "the value of " + parent + "." + n.goName
}

// values are the fields of a record or element, in order.
func (n *node) values() string {
	fields := make([]string, len(n.children))
	for i, c := range n.children {
		fields[i] = c.field
	}
	return strings.Join(fields, ", ")
}

// columns lists the values below n, those of lists apart.
func (n *node) columns(typ, prefix string) []columnView {
	var out []columnView
	for _, c := range n.children {
		path := prefix + c.name
		switch c.form {
		case formObject:
			out = append(out, c.columns(c.typeName(typ), path+".")...)
		case formList:
			out = append(out, columnView{Path: strconv.Quote(path), Into: c.field, List: c.typeName(typ)})
		case formValue, formRecord:
			out = append(out, columnView{Path: strconv.Quote(path), Kind: kindName(c.kind), Array: c.array, Into: c.field})
		}
	}
	return out
}

// kindName is the constant of idem, "" for the zero value.
func kindName(k model.Kind) string {
	if k == model.KindText || k == "" {
		return ""
	}
	return "idem.Kind" + string(k)
}
