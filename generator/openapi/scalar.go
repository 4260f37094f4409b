package openapi

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/model"
)

// jsonForm is how a kind is written in JSON (docs/language.md, "SQL to JSON").
type jsonForm struct {
	types       []string
	format      string
	description string
	encoding    string
}

var jsonForms = map[model.Kind]jsonForm{
	model.KindBool:        {types: []string{"boolean"}},
	model.KindInt2:        {types: []string{"integer"}, format: "int32"},
	model.KindInt4:        {types: []string{"integer"}, format: "int32"},
	model.KindInt8:        {types: []string{"integer"}, format: "int64"},
	model.KindNumeric:     {types: []string{"string"}, format: "decimal"},
	model.KindFloat4:      {types: []string{"number"}, format: "float"},
	model.KindFloat8:      {types: []string{"number"}, format: "double"},
	model.KindText:        {types: []string{"string"}},
	model.KindUUID:        {types: []string{"string"}, format: "uuid"},
	model.KindTimestamptz: {types: []string{"string"}, format: "date-time"},
	model.KindTimestamp:   {types: []string{"string"}, format: "date-time-local", description: "ISO 8601 date and time without a zone."},
	model.KindDate:        {types: []string{"string"}, format: "date"},
	model.KindTime:        {types: []string{"string"}, format: "time-local", description: "ISO 8601 time of day without a zone."},
	model.KindInterval:    {types: []string{"string"}, format: "duration"},
	model.KindBytea:       {types: []string{"string"}, encoding: "base64"},
	model.KindJSON:        {description: "Any JSON value."},
	model.KindRecord:      {types: []string{"object"}},
}

const decimalPattern = `^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`

// scalar is the schema of one value.
func (f form) scalar(t model.Type, s side, nullable bool, def *yaml.Node) *yaml.Node {
	shape := jsonForms[t.Kind]
	types := slices.Clone(shape.types)
	bigint := t.Kind == model.KindInt8 && f.bigintString
	if bigint {
		types = []string{"string"}
	}
	if t.Kind == model.KindNumeric && s == asked {
		types = append(types, "number") // kept exactly
	}
	if isFloat(t.Kind) {
		types = append(types, "string") // NaN and infinities
	}
	if nullable && types != nil {
		types = append(types, typeNull)
	}
	rules := rulesOf(t, s, bigint)
	out := []entry{
		{"type", typeListOf(types)},
		{"format", optional(shape.format)},
		{"contentEncoding", optional(shape.encoding)},
	}
	out = append(out, rules.entries(nullable)...)
	out = append(out, entry{"default", def}, entry{"description", optional(join(shape.description, rules.said))})
	if n := object(out...); n != nil {
		return n
	}
	return emptyObject()
}

func typeListOf(types []string) *yaml.Node {
	if len(types) == 0 {
		return nil
	}
	return typeList(types)
}

func isFloat(k model.Kind) bool { return k == model.KindFloat4 || k == model.KindFloat8 }

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
