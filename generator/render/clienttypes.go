package render

import (
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// clientType is a struct of an emitted client.
type clientType struct {
	Name, Doc string
	Fields    []clientField
	// Micro are statements that cut the times of p, a copy of the struct, to what
	// PostgreSQL stores: the service refuses what it would have to round.
	Micro []string
}

// clientField is one field.
type clientField struct{ Name, Type, Tag, Comment string }

// typeWriter makes the structs of one operation.
type typeWriter struct {
	c      *clientEmitter
	im     *imports
	asked  bool // of a request: what may be absent can be left out
	bigint bool // as strings
	out    []clientType
}

// of is the Go type of a node that is always there; its structs are added.
func (w *typeWriter) of(n *contract.Node, name, doc string) string {
	switch n.Form {
	case contract.FormObject:
		return w.object(n, name, doc, nil)
	case contract.FormList:
		return "[]" + w.object(n, name, strings.Replace(doc, "the value of", "an element of", 1), nil)
	case contract.FormValue:
	}
	base := w.plain(n.Type)
	if n.Type.Array {
		return "[]" + base
	}
	return base
}

// plain is the type of a single value.
func (w *typeWriter) plain(t model.Type) string {
	switch t.Kind {
	case model.KindBool:
		return "bool"
	case model.KindInt2:
		return "int16"
	case model.KindInt4:
		return "int32"
	case model.KindInt8:
		if w.bigint && t.Array { // the tag `string` does not reach into lists
			return "string"
		}
		return "int64"
	case model.KindFloat4, model.KindFloat8:
		w.c.floats = true
		return "Float"
	case model.KindTimestamptz:
		w.im.add("time")
		return "time.Time"
	case model.KindBytea:
		return "[]byte"
	case model.KindJSON, model.KindRecord:
		w.im.add("encoding/json")
		return "json.RawMessage"
	}
	return "string"
}

// object adds a struct; outside are the fields that JSON does not have.
func (w *typeWriter) object(n *contract.Node, name, doc string, outside []*contract.Param) string {
	name = w.c.types.take(name)
	at := len(w.out)
	w.out = append(w.out, clientType{Name: name, Doc: doc})
	taken := nameSet{"MarshalJSON": true}
	var t clientType
	for _, p := range outside {
		f := clientField{Name: taken.take(fieldName(&p.Node)), Tag: `json:"-"`, Comment: string(p.In) + " parameter " + p.Wire + commentOf(p.Type)}
		f.Type = w.optional(&p.Node, w.of(&p.Node, name+f.Name, ""))
		p.GoName = f.Name
		t.Fields = append(t.Fields, f)
	}
	for _, m := range n.Members {
		f := clientField{Name: taken.take(fieldName(m)), Comment: strings.TrimPrefix(commentOf(m.Type), "; ")}
		elem := f.Name
		if m.Form == contract.FormList && at == 0 && !w.asked && len(n.Members) == 1 {
			elem = "Item"
		}
		typ := w.of(m, name+elem, "the value of "+name+"."+f.Name)
		f.Type, f.Tag = w.optional(m, typ), w.tag(m, typ)
		m.GoName = f.Name
		t.Fields = append(t.Fields, f)
		if w.asked && m.Form == contract.FormValue && m.Type.Kind == model.KindTimestamptz {
			t.Micro = append(t.Micro, microOf(f))
		}
	}
	if t.Micro != nil {
		w.im.add("encoding/json")
	}
	w.out[at].Fields, w.out[at].Micro = t.Fields, t.Micro
	return name
}

func fieldName(n *contract.Node) string {
	name := n.GoName[strings.LastIndexByte(n.GoName, '.')+1:]
	switch {
	case name != "":
		return name
	case n.Name == "":
		return "Body"
	}
	return goName(n.Name)
}

// commentOf says what the Go type does not.
func commentOf(t model.Type) string {
	switch {
	case len(t.Enum) > 0:
		return "; " + oneLine(strings.Join(t.Enum, ", "))
	case t.Kind == model.KindNumeric:
		return "; a decimal number"
	case t.Kind == model.KindTimestamp, t.Kind == model.KindDate, t.Kind == model.KindTime:
		return "; ISO 8601, without a zone"
	case t.Kind == model.KindInterval:
		return "; an ISO 8601 duration"
	case t.Kind == model.KindUUID:
		return "; a UUID"
	}
	return ""
}

// optional is the type of a field that may be null or absent.
func (w *typeWriter) optional(n *contract.Node, typ string) string {
	nilable := strings.HasPrefix(typ, "[]") || typ == "json.RawMessage"
	switch {
	case w.asked && !n.Required && n.Nullable && (n.Asked || n.Default != nil): // null and absent differ
		if nilable {
			return "Optional[" + typ + "]"
		}
		return "Optional[*" + typ + "]"
	case nilable, !n.Nullable && (n.Required || !w.asked):
		return typ
	}
	return "*" + typ
}

func (w *typeWriter) tag(n *contract.Node, typ string) string {
	tag := n.Name
	if w.asked && !n.Required {
		tag += ",omitzero"
	}
	if w.bigint && n.Form == contract.FormValue && typ == "int64" {
		tag += ",string"
	}
	return "json:" + strconv.Quote(tag)
}

// microOf cuts the times of a field of p.
func microOf(f clientField) string {
	const cut = ".Truncate(time.Microsecond)"
	field := "p." + f.Name
	switch {
	case strings.HasPrefix(f.Type, "Optional["):
		return "if t := " + field + ".Value; t != nil {\n\tcut := t" + cut + "\n\t" + field + ".Value = &cut\n}"
	case strings.HasPrefix(f.Type, "*"):
		return "if t := " + field + "; t != nil {\n\tcut := t" + cut + "\n\t" + field + " = &cut\n}"
	case strings.HasPrefix(f.Type, "[]"):
		return field + " = slices.Clone(" + field + ")\nfor i, t := range " + field + " {\n\t" + field + "[i] = t" + cut + "\n}"
	}
	return field + " = " + field + cut
}
