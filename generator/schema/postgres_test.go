package schema

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

// TestCatalogEqualsPostgreSQL applies migrations to a real server and compares
// all that the catalog says with the system tables: columns, types, NOT NULL,
// defaults, and every constraint and unique index by its (default) name.
func TestCatalogEqualsPostgreSQL(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	pool := idemtest.Pool(t)
	if _, err := pool.Exec(context.Background(), upPart(string(text)), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	cat := mustBuild(t, string(text))
	compare(t, "columns", catalogColumns(cat), query(t, pool, `
		SELECT format('%s.%s.%s %s null=%s generated=%s identity=%s default=%s', n.nspname, c.relname, a.attname,
			format_type(a.atttypid, a.atttypmod), NOT (a.attnotnull OR ty.typnotnull), a.attgenerated <> '' OR a.attidentity = 'a',
			a.attidentity <> '', a.atthasdef AND pg_get_expr(d.adbin, d.adrelid) NOT LIKE 'NULL::%')
		FROM pg_attribute a JOIN pg_type ty ON ty.oid = a.atttypid JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND n.nspname IN ('public', 'app')`))
	compare(t, "constraints", catalogConstraints(cat), query(t, pool, `
		SELECT format('%s.%s %s %s', n.nspname, c.relname, k.contype, k.conname)
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname IN ('public', 'app') AND k.contype IN ('p', 'u', 'c', 'f', 'x')`))
	compare(t, "unique indexes", catalogUniques(cat), query(t, pool, `
		SELECT format('%s.%s %s [%s] partial=%s deferrable=%s', n.nspname, c.relname, i.relname,
			CASE WHEN x.indexprs IS NULL THEN (SELECT string_agg(a.attname, ',' ORDER BY k.ord)
				FROM unnest(x.indkey) WITH ORDINALITY k(num, ord)
				JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num WHERE k.ord <= x.indnkeyatts) END,
			x.indpred IS NOT NULL, NOT x.indimmediate)
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE x.indisunique AND n.nspname IN ('public', 'app')`))
	compare(t, "enums", catalogEnums(cat), query(t, pool, `
		SELECT format('%s.%s %s', s, t, l) FROM (SELECT n.nspname s, t.typname t, string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder) l
		FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace GROUP BY 1, 2) x`))
	compare(t, "domain checks", catalogDomains(cat), query(t, pool, `
		SELECT format('%s.%s %s', n.nspname, t.typname, k.conname)
		FROM pg_constraint k JOIN pg_type t ON t.oid = k.contypid JOIN pg_namespace n ON n.oid = t.typnamespace
		WHERE k.contype = 'c' AND n.nspname = 'public'`))
}

func query(t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	rows, err := pool.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 {
		t.Errorf("%s: nothing to compare", what)
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: PostgreSQL doesn't have %s", what, g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: the catalog doesn't have %s", what, w)
		}
	}
}

// formatType spells a type as PostgreSQL's format_type does.
func formatType(name string) string {
	for _, r := range [][2]string{{"varchar", "character varying"}, {"bpchar", "character"}} {
		name = strings.Replace(name, r[0], r[1], 1)
	}
	name = strings.TrimPrefix(name, "public.")
	for short, long := range map[string]string{"timestamptz": "timestamp%s with time zone", "timestamp": "timestamp%s without time zone", "time": "time%s without time zone"} {
		bare, array := strings.CutSuffix(name, "[]")
		if rest, ok := strings.CutPrefix(bare, short); ok && (rest == "" || rest[0] == '(') {
			name = fmt.Sprintf(long, rest)
			if array {
				name += "[]"
			}
			break
		}
	}
	if rest, ok := strings.CutPrefix(name, "numeric("); ok && !strings.Contains(rest, ",") {
		name = strings.Replace(name, ")", ",0)", 1)
	}
	return name
}

func pgBool(b bool) string { return fmt.Sprint(b)[:1] }

func catalogColumns(c *Catalog) (out []string) {
	for _, t := range c.Tables {
		for _, col := range t.Columns {
			if !t.Traits.View {
				out = append(out, fmt.Sprintf("%s.%s %s null=%s generated=%s identity=%s default=%s", t.Name, col.Name,
					formatType(col.Type.Name), pgBool(!col.NotNull), pgBool(col.Generated), pgBool(col.Identity), pgBool(col.Default != "")))
			}
		}
	}
	return out
}

func catalogConstraints(c *Catalog) (out []string) {
	for _, t := range c.Tables {
		for _, u := range t.Uniques {
			kind := "u"
			if u == t.Primary {
				kind = "p"
			}
			if u.Constraint {
				out = append(out, fmt.Sprintf("%s %s %s", t.Name, kind, u.Name))
			}
		}
		for _, k := range t.Checks {
			out = append(out, fmt.Sprintf("%s c %s", t.Name, k.Name))
		}
		for _, k := range t.ForeignKeys {
			out = append(out, fmt.Sprintf("%s f %s", t.Name, k.Name))
		}
		for _, name := range t.Exclusions {
			out = append(out, fmt.Sprintf("%s x %s", t.Name, name))
		}
	}
	return out
}

func catalogUniques(c *Catalog) (out []string) {
	for _, t := range c.Tables {
		for _, u := range t.Uniques {
			out = append(out, fmt.Sprintf("%s %s [%s] partial=%s deferrable=%s", t.Name, u.Name,
				strings.Join(u.Columns, ","), pgBool(u.Where != ""), pgBool(u.Deferrable)))
		}
	}
	return out
}

func catalogEnums(c *Catalog) (out []string) {
	for _, e := range c.Enums {
		out = append(out, fmt.Sprintf("%s %s", e.Name, strings.Join(e.Labels, ",")))
	}
	return out
}

func catalogDomains(c *Catalog) (out []string) {
	for _, d := range c.Domains {
		for _, k := range d.Checks {
			out = append(out, fmt.Sprintf("%s %s", d.Name, k.Name))
		}
	}
	return out
}
