package schema

import (
	"slices"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// TestFunctionsAreWhatPostgreSQLHas compares the lists with the server's: every
// aggregate of its own is known, and none of the plain functions is one, or a
// window function. The server may be older than the newest names.
func TestFunctionsAreWhatPostgreSQLHas(t *testing.T) {
	pool := idemtest.Pool(t)
	own := query(t, pool, `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'a'`)
	if len(own) < 40 {
		t.Errorf("only %v", own)
	}
	for _, name := range own {
		if !aggregates[name] {
			t.Errorf("the aggregate %s is not known", name)
		}
	}
	rows := query(t, pool, `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('a', 'w')`)
	for name := range plainFunctions {
		if slices.Contains(rows, name) || aggregates[name] {
			t.Errorf("%s is no plain function", name)
		}
	}
	plain := query(t, pool, `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f'`)
	unknown := 0
	for name := range plainFunctions {
		if !slices.Contains(plain, name) {
			unknown++
		}
	}
	if unknown > 60 {
		t.Errorf("%d names are not PostgreSQL's", unknown)
	}
}
