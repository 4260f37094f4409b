package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/model"
)

// Lack is an intent whose unique index a database lacks.
type Lack struct {
	Operation string
	Intent    *model.Intent
	Invalid   bool // it is there, but INVALID or not unique: it holds nothing
}

// Problem says what is wrong in one sentence.
func (l Lack) Problem() string {
	if l.Invalid {
		return fmt.Sprintf("the index %s of table %s is INVALID or not unique: the intent holds nothing", l.Intent.Index, l.Intent.Table)
	}
	return fmt.Sprintf("the database has no index %s on table %s: the intent holds nothing", l.Intent.Index, l.Intent.Table)
}

// Way says what to do.
func (l Lack) Way() string {
	if l.Invalid {
		return fmt.Sprintf("DROP INDEX CONCURRENTLY %s; then run its CREATE UNIQUE INDEX CONCURRENTLY again, as its migration has it", l.Intent.Index)
	}
	return "apply the migrations of the service to this database"
}

const indexStates = `
SELECT n.nspname || '.' || t.relname || ' ' || i.relname, bool_or(x.indisunique AND x.indisvalid AND x.indisready)
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
WHERE n.nspname || '.' || t.relname || ' ' || i.relname = ANY($1::text[])
GROUP BY 1`

// Indexes finds the intents of a service that no index in the database holds.
func Indexes(ctx context.Context, pool *pgxpool.Pool, svc *model.Service) ([]Lack, error) {
	var wanted []Lack
	var names []string
	seen := map[string]bool{}
	for _, op := range svc.Operations {
		for _, s := range op.Steps {
			if s.Intent == nil || seen[indexName(s.Intent)] {
				continue
			}
			seen[indexName(s.Intent)] = true
			wanted = append(wanted, Lack{Operation: op.Name, Intent: s.Intent})
			names = append(names, indexName(s.Intent))
		}
	}
	states, err := pairs[bool](ctx, pool, indexStates, names)
	if err != nil {
		return nil, err
	}
	var out []Lack
	for _, l := range wanted {
		good, there := states[indexName(l.Intent)]
		if l.Invalid = there && !good; !good {
			out = append(out, l)
		}
	}
	return out, nil
}

// indexName is how indexStates names an intent's index.
func indexName(in *model.Intent) string { return qualified(in.Table) + " " + in.Index }

func qualified(t model.TableName) string {
	if t.Schema == "" {
		t.Schema = "public"
	}
	return t.Schema + "." + t.Name
}

// pairs reads a query of a name and a value each.
func pairs[V any](ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) (map[string]V, error) {
	rows, err := pool.Query(ctx, strings.TrimSpace(sql), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]V{}
	for rows.Next() {
		var name string
		var value V
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, rows.Err()
}
