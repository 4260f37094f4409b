package spec

import _ "embed"

//go:embed schema.json
var schemaJSON []byte

// JSONSchema is the JSON Schema (draft 2020-12) of endpoint spec files, for
// editors. The parser is stricter: grammars inside texts are its alone.
func JSONSchema() []byte { return append([]byte(nil), schemaJSON...) }
