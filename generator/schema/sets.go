package schema

import (
	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// setFunctions are those among the plain functions that give sets of rows.
var setFunctions = nameSet(`
	generate_series generate_subscripts
	json_array_elements json_array_elements_text json_each json_each_text json_object_keys json_populate_recordset json_to_recordset
	jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query jsonb_path_query_tz
	jsonb_populate_recordset jsonb_to_recordset
	regexp_matches regexp_split_to_table string_to_table unnest`)

// callsSets reports whether an expression calls, outside its sub-selects, a
// function that gives a set of rows, or may: where it stands in VALUES with one
// row, that row becomes as many as the set has. Nothing is known of an
// extension's.
func (c *Catalog) callsSets(expr *pg.Node) bool {
	found := false
	sqltext.Walk(expr, func(m proto.Message) bool {
		switch e := m.(type) {
		case *pg.SelectStmt:
			return false
		case *pg.FuncCall:
			found = found || c.givesSet(e)
		}
		return !found
	})
	return found
}

func (c *Catalog) givesSet(f *pg.FuncCall) bool {
	name, names := funcName(f), texts(f.Funcname)
	if len(names) == 2 && names[0] == "pg_catalog" {
		return setFunctions[name] || !plainFunctions[name]
	}
	return c.setReturns[name] || !c.functions[name] && (len(names) > 1 || setFunctions[name] || !plainFunctions[name])
}
