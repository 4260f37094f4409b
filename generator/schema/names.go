package schema

import (
	"strconv"
	"unicode/utf8"

	"github.com/idemgen/idemgen/generator/model"
)

// maxName is NAMEDATALEN-1: names are at most this many bytes.
const maxName = 63

// objectName joins a table's name, columns and label as PostgreSQL's
// makeObjectName does: the longer of the first two is shortened until the
// result fits, cut at whole characters.
func objectName(name1, name2, label string) string {
	overhead := len(label) + 1
	if name2 != "" {
		overhead++
	}
	len1, len2 := len(name1), len(name2)
	for len1+len2 > maxName-overhead {
		if len1 > len2 {
			len1--
		} else {
			len2--
		}
	}
	out := clip(name1, len1)
	if name2 != "" {
		out += "_" + clip(name2, len2)
	}
	return out + "_" + label
}

// clip cuts a name to at most n bytes, never inside a character.
func clip(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// chooseName numbers the label until no object of that name is taken.
func chooseName(name1, name2, label string, taken func(string) bool) string {
	name := objectName(name1, name2, label)
	for pass := 1; taken(name); pass++ {
		name = objectName(name1, name2, label+strconv.Itoa(pass))
	}
	return name
}

// columnsAddition joins column names for a default name, and stops where
// PostgreSQL stops.
func columnsAddition(columns []string) string {
	out := ""
	for _, c := range columns {
		if out != "" {
			out += "_"
		}
		out += c
		if len(out) >= maxName+1 {
			break
		}
	}
	return out
}

// constraintTaken reports whether any constraint of the schema has the name:
// PostgreSQL avoids repeats in the whole schema when it chooses one.
func (b *builder) constraintTaken(schema string) func(string) bool {
	return func(name string) bool {
		for _, t := range b.tables {
			if t.Name.Schema == schema && t.hasConstraint(name) {
				return true
			}
		}
		for _, d := range b.domains {
			if d.Name.Schema == schema && d.check(name) != nil {
				return true
			}
		}
		return false
	}
}

// relationTaken reports whether a table, view or index of the schema has the
// name, or, for the index of a constraint, a constraint.
func (b *builder) relationTaken(schema string, constraint bool) func(string) bool {
	constraintTaken := b.constraintTaken(schema)
	return func(name string) bool {
		full := model.TableName{Schema: schema, Name: name}
		return b.tables[full] != nil || b.indexes[full] != nil || constraint && constraintTaken(name)
	}
}
