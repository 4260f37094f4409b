package sqlcrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// request is sqlc's JSON, as far as it is used.
type request struct {
	SqlcVersion string `json:"sqlc_version"`
	// Catalog is most of the text, PostgreSQL's own functions above all, and
	// is read only where a query embeds a table.
	Catalog json.RawMessage `json:"catalog"`
	Queries []jsonQuery     `json:"queries"`

	catalog *jsonCatalog
}

type jsonCatalog struct {
	DefaultSchema string       `json:"default_schema"`
	Schemas       []jsonSchema `json:"schemas"`
}

type jsonSchema struct {
	Name   string `json:"name"`
	Tables []struct {
		Rel     jsonName     `json:"rel"`
		Columns []jsonColumn `json:"columns"`
	} `json:"tables"`
}

type jsonName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

type jsonQuery struct {
	Text    string       `json:"text"`
	Name    string       `json:"name"`
	Cmd     string       `json:"cmd"`
	Columns []jsonColumn `json:"columns"`
	Params  []struct {
		Number int        `json:"number"`
		Column jsonColumn `json:"column"`
	} `json:"params"`
	Comments []string  `json:"comments"`
	Filename string    `json:"filename"`
	Insert   *jsonName `json:"insert_into_table"`
}

type jsonColumn struct {
	Name       string    `json:"name"`
	NotNull    bool      `json:"not_null"`
	IsArray    bool      `json:"is_array"`
	ArrayDims  int       `json:"array_dims"`
	Table      *jsonName `json:"table"`
	TableAlias string    `json:"table_alias"`
	Type       jsonName  `json:"type"`
	IsSlice    bool      `json:"is_sqlc_slice"`
	Embed      *jsonName `json:"embed_table"`
}

func parseRequest(text []byte) (*request, error) {
	var r request
	rest, catalog := cutCatalog(text)
	if err := json.Unmarshal(rest, &r); err != nil {
		return nil, fmt.Errorf("sqlc's JSON can't be read: %w", err)
	}
	if catalog != nil {
		r.Catalog = catalog
	}
	return &r, nil
}

// cutCatalog takes the catalog out of sqlc's indented JSON without scanning
// it: strings hold no raw newline, so lines tell the members apart. Text of
// any other layout is left whole.
func cutCatalog(text []byte) (rest, catalog []byte) {
	first := bytes.Index(text, []byte("\n"))
	quote := bytes.IndexByte(text, '"')
	if first < 0 || quote < first {
		return text, nil
	}
	indent := string(text[first:quote])
	start := bytes.Index(text, []byte(indent+`"catalog": {`+"\n"))
	if start < 0 {
		return text, nil
	}
	size := bytes.Index(text[start+1:], []byte(indent+"},"+"\n"))
	if size < 0 {
		return text, nil
	}
	end := start + 1 + size + len(indent) + 1 // behind the brace
	open := start + len(indent) + len(`"catalog": `)
	rest = append(append(rest, text[:open]...), "{}"...)
	return append(rest, text[end:]...), text[open:end]
}

// table finds the columns of a table of sqlc's catalog.
func (r *request) table(name jsonName) ([]jsonColumn, bool) {
	if r.catalog == nil {
		r.catalog = &jsonCatalog{}
		if json.Unmarshal(r.Catalog, r.catalog) != nil {
			return nil, false
		}
	}
	schema := name.Schema
	if schema == "" {
		schema = r.catalog.DefaultSchema
	}
	for _, s := range r.catalog.Schemas {
		if s.Name != schema {
			continue
		}
		for _, t := range s.Tables {
			if t.Rel.Name == name.Name {
				return t.Columns, true
			}
		}
	}
	return nil, false
}

// column is a column in idemgen's terms, without its Go type.
func (c jsonColumn) column() Column {
	out := Column{
		Name: c.Name, NotNull: c.NotNull, Array: c.IsArray, ArrayDims: c.ArrayDims,
		TypeName: c.Type.typeName(), TableAlias: c.TableAlias, Slice: c.IsSlice,
	}
	if c.Table != nil {
		out.Table = model.TableName(*c.Table)
	}
	if c.Embed != nil {
		out.Embed = model.TableName(*c.Embed).String()
	}
	return out
}

// typeName splits the schema off: sqlc writes it into the name for parameters.
func (n jsonName) typeName() model.TableName {
	if n.Schema == "" {
		if schema, name, ok := strings.Cut(n.Name, "."); ok {
			return model.TableName{Schema: schema, Name: name}
		}
	}
	return model.TableName(n)
}
