package check

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
)

// intentSet resolves intents, each once.
type intentSet struct {
	cat   *schema.Catalog
	diags *diag.List
	known map[string]*model.Intent
}

func newIntentSet(cat *schema.Catalog, diags *diag.List) *intentSet {
	return &intentSet{cat: cat, diags: diags, known: map[string]*model.Intent{}}
}

// resolveIntents resolves what operations use: an unused query needs no index.
func resolveIntents(_ *config.Config, cat *schema.Catalog, decls []*spec.QueryDecl, endpoints []*spec.Endpoint, diags *diag.List) []*model.Intent {
	set := newIntentSet(cat, diags)
	used := map[string]bool{} // by query, where the step has no intent of its own
	for _, e := range endpoints {
		for _, s := range e.Steps {
			_, base, qualified := strings.Cut(s.Query.Value, ".")
			if !qualified {
				base = s.Query.Value
			}
			if s.Decl.Intent != nil {
				set.resolve(s.Decl.Intent)
			} else {
				used[base] = true
			}
		}
	}
	for _, d := range decls {
		if d.Decl.Intent != nil && (d.Decl.HTTP != nil || used[d.Name]) {
			set.resolve(d.Decl.Intent)
		}
	}
	return set.list()
}

// list is every intent, by table and columns.
func (s *intentSet) list() []*model.Intent {
	var out []*model.Intent
	for _, key := range sortedKeys(s.known) {
		if in := s.known[key]; in != nil {
			out = append(out, in)
		}
	}
	return out
}

// resolve finds the index that holds an intent, or says which one is missing;
// nil if there can be none. Each intent is reported once.
func (s *intentSet) resolve(decl *spec.Intent) *model.Intent {
	if decl.Constraint != "" {
		return s.byConstraint(decl)
	}
	table := s.cat.Table(tableName(decl.Table))
	if table == nil {
		s.diags.Errorf(diag.CatalogUnknown, decl.Pos, "no migration makes a table named %s", decl.Table).
			Hint("%s", didYouMean(decl.Table, s.tableNames(), "table"))
		return nil
	}
	columns := make([]string, len(decl.Columns))
	for i, col := range decl.Columns {
		columns[i] = col.Value
		if table.Column(col.Value) == nil {
			s.diags.Errorf(diag.CatalogUnknown, col.Pos, "the table %s has no column %s", table.Name.Name, col.Value).
				Hint("%s", didYouMean(col.Value, tableColumns(table), "column"))
			return nil
		}
	}
	if !s.conditionColumns(decl, table) {
		return nil
	}
	return s.byColumns(decl, table, columns)
}

// conditionColumns refuses a condition on columns that the table does not have,
// or that are no booleans where one must stand.
func (s *intentSet) conditionColumns(decl *spec.Intent, table *schema.Table) bool {
	for _, col := range decl.WhereNames {
		if table.Column(col.Value) == nil {
			s.diags.Errorf(diag.CatalogUnknown, col.Pos, "the table %s has no column %s", table.Name.Name, col.Value).
				Hint("%s", didYouMean(col.Value, tableColumns(table), "column"))
			return false
		}
	}
	for _, flag := range decl.WhereFlags {
		if t := table.Column(flag.Value).Type; t.Kind != model.KindBool || t.Array {
			s.diags.Errorf(diag.IntentColumns, flag.Pos, "the condition needs a boolean, but %s is %s", flag.Value, describe(t)).
				Hint("compare it with something: %s IS NOT NULL", flag.Value)
			return false
		}
	}
	return true
}

func (s *intentSet) tableNames() []string {
	names := make([]string, len(s.cat.Tables))
	for i, t := range s.cat.Tables {
		names[i] = t.Name.Name
	}
	return names
}

func tableColumns(t *schema.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

func (s *intentSet) byColumns(decl *spec.Intent, table *schema.Table, columns []string) *model.Intent {
	key := intentKey(table.Name, columns, decl.Where)
	if in, ok := s.known[key]; ok {
		return in
	}
	in := &model.Intent{Table: table.Name, Columns: columns, Where: decl.Where,
		Partitioned: table.Traits.Partitioned, Pos: decl.Pos}
	unique := matchUnique(table, columns, decl.Where)
	if !s.holds(decl, table, columns, unique) {
		return nil
	}
	if unique == nil && !s.coversPartitions(decl, table, columns) {
		return nil
	}
	if unique != nil {
		in.Index, in.Where = unique.Name, unique.Where
	} else {
		in.Missing, in.Index = true, indexName(table, columns, decl.Where)
	}
	s.known[key] = in
	return in
}

// holds refuses columns that may be null: a unique index lets any number of
// rows with a null in.
func (s *intentSet) holds(decl *spec.Intent, table *schema.Table, columns []string, unique *schema.Unique) bool {
	if table.Traits.View {
		s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s is a view, which no unique index can hold", table.Name.Name).
			Hint("name the table behind it")
		return false
	}
	if unique != nil && unique.NullsNotDistinct {
		return true
	}
	for _, name := range columns {
		if col := table.Column(name); col != nil && !col.NotNull {
			s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s.%s may be null, and rows with a null never conflict", table.Name.Name, name).
				Hint("add a migration: ALTER TABLE %s ALTER COLUMN %s SET NOT NULL; or a UNIQUE NULLS NOT DISTINCT constraint on the columns", table.Name.Name, name)
			return false
		}
	}
	return true
}

// coversPartitions refuses columns without those by which the table is
// partitioned: PostgreSQL can't hold a unique index over several partitions.
func (s *intentSet) coversPartitions(decl *spec.Intent, table *schema.Table, columns []string) bool {
	key, byExpression := table.PartitionKey()
	if byExpression {
		s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s is partitioned by an expression, over which no unique index can reach", table.Name.Name).
			Hint("keep the intent in a table of its own that is not partitioned, written by the same operation")
		return false
	}
	missing := slices.DeleteFunc(key, func(name string) bool { return slices.Contains(columns, name) })
	if len(missing) > 0 {
		list := strings.Join(missing, ", ")
		s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s is partitioned by %s, which every unique index of it must include", table.Name.Name, list).
			Hint("add %s to the columns if that is the intent; or keep the intent in a table of its own that is not partitioned", list)
		return false
	}
	return true
}

func (s *intentSet) byConstraint(decl *spec.Intent) *model.Intent {
	var all []string
	for _, table := range s.cat.Tables {
		for _, u := range table.Uniques {
			all = append(all, u.Name)
			if u.Name == decl.Constraint {
				return s.constraint(decl, table, u)
			}
		}
	}
	s.diags.Errorf(diag.CatalogUnknown, decl.Pos, "no migration makes a unique constraint or index named %s", decl.Constraint).
		Hint("%s", intentHint(decl.Constraint, all))
	return nil
}

func intentHint(name string, all []string) string {
	if near := diag.Nearest(name, all); near != "" {
		return "did you mean " + near + "? or name the table and columns: @intent TABLE (COLUMNS)"
	}
	return "name the table and columns, and the index is made: @intent TABLE (COLUMNS)"
}

func (s *intentSet) constraint(decl *spec.Intent, table *schema.Table, u *schema.Unique) *model.Intent {
	switch {
	case u.Deferrable:
		s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s is deferrable: it is checked too late to be an intent", u.Name).
			Hint("name the table and columns, so that an index is made: @intent %s (…)", table.Name.Name)
		return nil
	case len(u.Columns) == 0:
		s.diags.Errorf(diag.IntentColumns, decl.Pos, "%s is an index on expressions", u.Name).
			Hint("store the expression in a generated column, and name that: @intent %s (…)", table.Name.Name)
		return nil
	}
	if !s.holds(decl, table, u.Columns, u) {
		return nil
	}
	key := intentKey(table.Name, u.Columns, u.Where)
	if s.known[key] == nil {
		s.known[key] = &model.Intent{Table: table.Name, Columns: slices.Clone(u.Columns), Where: u.Where, Index: u.Name,
			Partitioned: table.Traits.Partitioned, Pos: decl.Pos}
	}
	return s.known[key]
}

// matchUnique finds the index that holds exactly these columns: more columns
// would allow more rows, and a predicate would leave some out.
func matchUnique(table *schema.Table, columns []string, where string) *schema.Unique {
	var found *schema.Unique
	for _, u := range table.Uniques {
		if u.Deferrable || !sameSet(u.Columns, columns) || condition(u.Where) != condition(where) {
			continue
		}
		if found == nil || u.NullsNotDistinct && !found.NullsNotDistinct {
			found = u
		}
	}
	return found
}

func sameSet(a, b []string) bool {
	return len(a) > 0 && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func intentKey(table model.TableName, columns []string, where string) string {
	return schemaOf(table) + "." + table.Name + "(" + strings.Join(slices.Sorted(slices.Values(columns)), ",") + ")" + condition(where)
}

// indexName names the index that a migration is to make: at most 63 bytes, as
// PostgreSQL cuts longer ones, and unlike any that is there.
func indexName(table *schema.Table, columns []string, where string) string {
	name := table.Name.Name + "_" + strings.Join(columns, "_")
	taken := slices.ContainsFunc(table.Uniques, func(u *schema.Unique) bool { return u.Name == name+"_intent" })
	if where != "" || taken || len(name)+len("_intent") > 63 {
		sum := sha256.Sum256([]byte(intentKey(table.Name, columns, where)))
		if len(name) > 47 {
			name = strings.ToValidUTF8(name[:47], "")
		}
		name += "_" + hex.EncodeToString(sum[:4])
	}
	return name + "_intent"
}
