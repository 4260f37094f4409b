package docs_test

import (
	"os"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/spec"
)

// TestPublishedSchemasAreThoseOfTheCommand: editors read these files.
func TestPublishedSchemasAreThoseOfTheCommand(t *testing.T) {
	for path, want := range map[string]string{"schema/endpoints.json": string(spec.JSONSchema()), "schema/idemgen.json": string(config.JSONSchema())} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("docs/%s is not what `idemgen schema` prints (%v)", path, err)
		}
	}
}
