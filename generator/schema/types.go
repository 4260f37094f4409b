package schema

import (
	"fmt"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// typeRef is a type as a column or domain refers to it. Enums and domains are
// pointers, since later migrations may still change them.
type typeRef struct {
	kind             model.Kind // "" for a type without JSON form
	name             string     // SQL name with modifiers, without []
	length           int
	precision, scale int
	array            bool
	serial           bool
	enum             *Enum
	domain           *Domain
}

// builtin is a type of PostgreSQL's own, by its internal name and its aliases.
type builtin struct {
	kind model.Kind
	name string
}

var builtins = map[string]builtin{
	"bool": {model.KindBool, "boolean"}, "boolean": {model.KindBool, "boolean"},
	"int2": {model.KindInt2, "smallint"}, "smallint": {model.KindInt2, "smallint"},
	"int4": {model.KindInt4, "integer"}, "int": {model.KindInt4, "integer"}, "integer": {model.KindInt4, "integer"},
	"int8": {model.KindInt8, "bigint"}, "bigint": {model.KindInt8, "bigint"},
	"numeric": {model.KindNumeric, "numeric"}, "decimal": {model.KindNumeric, "numeric"},
	"float4": {model.KindFloat4, "real"}, "real": {model.KindFloat4, "real"},
	"float8": {model.KindFloat8, "double precision"}, "double precision": {model.KindFloat8, "double precision"},
	"text": {model.KindText, "text"}, "citext": {model.KindText, "citext"}, "name": {model.KindText, "name"},
	"varchar": {model.KindText, "varchar"}, "character varying": {model.KindText, "varchar"},
	"bpchar":      {model.KindText, "bpchar"},
	"uuid":        {model.KindUUID, "uuid"},
	"timestamptz": {model.KindTimestamptz, "timestamptz"}, "timestamp with time zone": {model.KindTimestamptz, "timestamptz"},
	"timestamp": {model.KindTimestamp, "timestamp"}, "timestamp without time zone": {model.KindTimestamp, "timestamp"},
	"date": {model.KindDate, "date"},
	"time": {model.KindTime, "time"}, "time without time zone": {model.KindTime, "time"},
	"interval": {model.KindInterval, "interval"},
	"bytea":    {model.KindBytea, "bytea"},
	"json":     {model.KindJSON, "json"}, "jsonb": {model.KindJSON, "jsonb"},
}

// serials are not types but columns with a sequence.
var serials = map[string]string{
	"smallserial": "int2", "serial2": "int2", "serial": "int4", "serial4": "int4", "bigserial": "int8", "serial8": "int8",
}

// lookup finds a user-defined type: one of both is set, or none.
type lookup func(name model.TableName) (*Enum, *Domain)

// typeOf resolves a type name of the parse tree.
func typeOf(t *pg.TypeName, find lookup) typeRef {
	ref := scalarOf(texts(t.GetNames()), t.GetTypmods(), find)
	switch dims := len(t.GetArrayBounds()); {
	case dims == 1:
		ref = arrayOf(ref)
	case dims > 1:
		ref = typeRef{name: ref.sqlName() + strings.Repeat("[]", dims)}
	}
	return ref
}

func scalarOf(names []string, mods []*pg.Node, find lookup) typeRef {
	name := qualified(names)
	if base, ok := serials[name.Name]; ok && name.Schema == "" {
		return typeRef{kind: builtins[base].kind, name: builtins[base].name, serial: true}
	}
	if name.Schema == "" || name.Schema == "pg_catalog" || name.Name == "citext" {
		if b, ok := builtins[name.Name]; ok {
			return modified(typeRef{kind: b.kind, name: b.name}, name, mods)
		}
	}
	if name.Schema != "pg_catalog" {
		if enum, domain := find(name); enum != nil || domain != nil {
			return typeRef{enum: enum, domain: domain}
		}
	}
	if element, ok := strings.CutPrefix(name.Name, "_"); ok {
		return arrayOf(scalarOf(append(names[:len(names)-1:len(names)-1], element), nil, find))
	}
	return typeRef{name: quoteName(name)}
}

func arrayOf(element typeRef) typeRef {
	if element.model().Array { // an array of arrays, or of a domain over one
		return typeRef{name: element.sqlName() + "[]"}
	}
	element.array = true
	return element
}

// modified applies type modifiers: lengths, precision, scale.
func modified(ref typeRef, name model.TableName, mods []*pg.Node) typeRef {
	if ref.name == "citext" && name.Schema != "" {
		ref.name = quoteName(name)
	}
	var numbers []int
	for _, m := range mods {
		c := m.GetAConst()
		if c == nil || c.GetIval() == nil {
			return ref
		}
		numbers = append(numbers, int(c.GetIval().GetIval()))
	}
	switch {
	case len(numbers) == 0 || ref.kind == model.KindInterval:
	case ref.name == "varchar", ref.name == "bpchar":
		ref.length = numbers[0]
		ref.name = fmt.Sprintf("%s(%d)", ref.name, ref.length)
	case ref.kind == model.KindNumeric && len(numbers) == 2:
		ref.precision, ref.scale = numbers[0], numbers[1]
		ref.name = fmt.Sprintf("numeric(%d,%d)", ref.precision, ref.scale)
	case ref.kind == model.KindNumeric:
		ref.precision = numbers[0]
		ref.name = fmt.Sprintf("numeric(%d)", ref.precision)
	case ref.kind == model.KindTimestamptz, ref.kind == model.KindTimestamp, ref.kind == model.KindTime:
		ref.name = fmt.Sprintf("%s(%d)", ref.name, numbers[0])
	}
	return ref
}

func quoteName(n model.TableName) string {
	if n.Schema == "" {
		return sqltext.QuoteIdent(n.Name)
	}
	return sqltext.QuoteIdent(n.Schema) + "." + sqltext.QuoteIdent(n.Name)
}

// sqlName is the type's name, fit for a cast.
func (r typeRef) sqlName() string {
	name := r.name
	switch {
	case r.enum != nil:
		name = quoteName(r.enum.Name)
	case r.domain != nil:
		name = quoteName(r.domain.Name)
	}
	if r.array {
		name += "[]"
	}
	return name
}

// notNull reports whether the type itself refuses null.
func (r typeRef) notNull() bool {
	return r.domain != nil && !r.array && (r.domain.NotNull || r.domain.base.notNull())
}

// model is the resolved type, once enums and domains are final.
func (r typeRef) model() model.Type {
	t := model.Type{Kind: r.kind, Length: r.length, Precision: r.precision, Scale: r.scale}
	switch {
	case r.enum != nil:
		t.Kind, t.Enum = model.KindText, r.enum.Labels
	case r.domain != nil:
		t = r.domain.base.model()
		for _, c := range r.domain.Checks {
			t.Checks = append(t.Checks[:len(t.Checks):len(t.Checks)], storedRules(t, c.Rules[""])...)
		}
	}
	t.Name = r.sqlName()
	t.Array = t.Array || r.array
	return t
}

// resolveType finds a type by its name. Plain names take a short cut, since
// every parameter and column of every query asks.
func (c *Catalog) resolveType(name string) (model.Type, bool) {
	plain := strings.TrimPrefix(name, "pg_catalog.")
	element, array := strings.CutSuffix(plain, "[]")
	if b, ok := builtins[element]; ok {
		ref := typeRef{kind: b.kind, name: b.name, array: array}
		return ref.model(), true
	}
	if base, ok := serials[plain]; ok {
		return typeRef{kind: builtins[base].kind, name: builtins[base].name}.model(), true
	}
	if ref, ok := c.userType(name); ok {
		return ref.model(), ref.model().Kind != ""
	}
	node, ok := parseType(name)
	if !ok {
		return model.Type{}, false
	}
	t := typeOf(node, c.lookupType).model()
	return t, t.Kind != ""
}

// userType finds an enum or domain by a name that is not quoted, as sqlc
// reports them.
func (c *Catalog) userType(name string) (typeRef, bool) {
	parts := strings.SplitN(name, ".", 2)
	enum, domain := c.lookupType(qualified(parts))
	return typeRef{enum: enum, domain: domain}, enum != nil || domain != nil
}

func (c *Catalog) lookupType(name model.TableName) (*Enum, *Domain) {
	for _, schema := range c.schemas(name.Schema) {
		want := model.TableName{Schema: schema, Name: name.Name}
		for _, e := range c.Enums {
			if e.Name == want {
				return e, nil
			}
		}
		for _, d := range c.Domains {
			if d.Name == want {
				return nil, d
			}
		}
	}
	return nil, nil
}

// parseType reads a type's name as SQL.
func parseType(name string) (*pg.TypeName, bool) {
	result, err := pg.Parse("SELECT NULL::" + name)
	if err != nil || len(result.Stmts) != 1 {
		return nil, false
	}
	targets := result.Stmts[0].Stmt.GetSelectStmt().GetTargetList()
	if len(targets) != 1 {
		return nil, false
	}
	cast := targets[0].GetResTarget().GetVal().GetTypeCast()
	return cast.GetTypeName(), cast.GetTypeName() != nil && cast.GetArg().GetAConst() != nil
}

// lookupType finds user-defined types while migrations are applied.
func (b *builder) lookupType(name model.TableName) (*Enum, *Domain) {
	if enum, ok := find(b, b.enums, name); ok {
		return enum, nil
	}
	domain, _ := find(b, b.domains, name)
	return nil, domain
}
