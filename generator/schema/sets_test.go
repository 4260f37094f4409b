package schema

import (
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// The list is the server's: those of the plain functions that give sets.
func TestSetFunctionsAreWhatPostgreSQLHas(t *testing.T) {
	sets := query(t, idemtest.Pool(t), `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proretset`)
	for name := range plainFunctions {
		if slices.Contains(sets, name) != setFunctions[name] {
			t.Errorf("%s: sets: %v", name, !setFunctions[name])
		}
	}
}

// One row of VALUES is as many as the sets that it calls for.
func TestValuesOfSets(t *testing.T) {
	cat := mustBuild(t, shop+`CREATE FUNCTION one(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
		CREATE FUNCTION rows(int) RETURNS SETOF int LANGUAGE sql AS 'SELECT 1';
		CREATE FUNCTION tab(int) RETURNS TABLE (a int) LANGUAGE sql AS 'SELECT 1';`)
	tests := map[string]bool{
		"VALUES (1, upper($1))":    false,
		"VALUES (1, one(1)::text)": false,
		"VALUES (1, (SELECT max(g) FROM generate_series(1, 2) g)::text)": false,
		"DEFAULT VALUES":                            false,
		"VALUES (generate_series(1, 2), 'x')":       true,
		"VALUES (1, lower(unnest($1::text[])))":     true,
		"VALUES (1, pg_catalog.unnest($1::text[]))": true,
		"VALUES (rows(1), 'x')":                     true,
		"VALUES (tab(1), 'x')":                      true,
		"VALUES (of_an_extension(1), 'x')":          true,
		"VALUES (public.lower('x'), 'x')":           true,
	}
	for source, sets := range tests {
		diags := &diag.List{}
		shape := cat.Analyze("INSERT INTO lines "+source+" RETURNING sku", diag.Pos{File: "q.sql", Line: 1, Col: 1}, diags)
		if len(diags.Sorted()) > 0 || shape.ValuesOfSets != sets || shape.SingleValues == sets {
			t.Errorf("%s: sets %v, single %v %v", source, shape.ValuesOfSets, shape.SingleValues, diags.Sorted())
		}
	}
}
