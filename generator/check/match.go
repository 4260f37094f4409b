package check

import (
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// query is one query, as declared and as sqlc knows it.
type query struct {
	decl     *spec.QueryDecl
	src      *sqlcrun.Query
	resolved *model.Query // nil until used
	used     bool
}

// matchQueries pairs every declaration with what sqlc says about it. A query
// that sqlc does not know has no src: it is refused where it is used.
func matchQueries(decls []*spec.QueryDecl, known []*sqlcrun.Query) []*query {
	byName := map[string][]*sqlcrun.Query{}
	for _, q := range known {
		byName[q.Name] = append(byName[q.Name], q)
	}
	var out []*query
	for _, d := range decls {
		found := false
		for _, src := range byName[d.Name] {
			if sameFile(d, src) {
				out = append(out, &query{decl: d, src: src})
				found = true
			}
		}
		if !found {
			out = append(out, &query{decl: d})
		}
	}
	return out
}

func sameFile(d *spec.QueryDecl, src *sqlcrun.Query) bool {
	if src.File != path.Base(d.File) {
		return false
	}
	return src.Entry == nil || len(src.Entry.QueryFiles) == 0 || slices.Contains(src.Entry.QueryFiles, d.File)
}

func (q *query) packageName() string {
	if q.src == nil || q.src.Entry == nil {
		return ""
	}
	return q.src.Entry.Package.Name
}

// lookup finds the query that a step names: Name, or package.Name.
func (c *checker) lookup(name spec.Name) *query {
	pkg, base, qualified := strings.Cut(name.Value, ".")
	if !qualified {
		base = name.Value
	}
	var found []*query
	var names []string
	for _, q := range c.queries {
		names = append(names, q.decl.Name)
		if q.decl.Name == base && (!qualified || q.packageName() == pkg) {
			found = append(found, q)
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		c.diags.Errorf(diag.BindUnknown, name.Pos, "no query is named %s", name.Value).
			Hint("%s", didYouMean(base, names, "query"))
		return nil
	}
	var full []string
	for _, q := range found {
		full = append(full, q.packageName()+"."+base)
	}
	slices.Sort(full)
	c.diags.Errorf(diag.SpecForm, name.Pos, "several queries are named %s", base).
		Hint("write one of %s", strings.Join(slices.Compact(full), ", "))
	return nil
}

// reservedQueries are names that sqlc lets through and whose emitted code
// breaks or hides something.
var reservedQueries = []string{"Ctx", "String", "WithTx", "Type", "Range"}

// resolve makes the model of a query, once; nil if it can't be used.
func (c *checker) resolve(q *query) *model.Query {
	q.used = true
	if q.resolved != nil {
		return q.resolved
	}
	d := q.decl
	if q.src == nil {
		c.diags.Errorf(diag.SqlcFailed, d.Pos, "sqlc does not know the query %s", d.Name).
			Hint("its file must be in `queries:` of a pgx/v5 entry of sqlc.yaml; with --no-sqlc, run sqlc first")
		return nil
	}
	if slices.Contains(reservedQueries, d.Name) {
		c.diags.Errorf(diag.NameCollision, d.Pos, "a query named %s collides with sqlc's own code", d.Name).
			Hint("rename it, for example Get%s", d.Name)
	}
	m := &model.Query{Name: d.Name, Command: q.src.Command, File: d.File, Pos: d.Pos,
		SQL: strings.TrimRight(strings.TrimSpace(q.src.SQL), "; \t\r\n")}
	if q.src.Entry != nil {
		m.Package = q.src.Entry.Package
	}
	m.Shape = c.analyze(m)
	c.params(q, m)
	m.Shape.Compared = compared(d, m)
	c.columns(q, m)
	c.nullable(q, m.Shape)
	q.resolved = m
	return m
}

// analyze says what a statement does. Its text is sqlc's, without the comments
// and with other parameters, so that places inside it are not the file's: what
// it finds is reported at the query.
func (c *checker) analyze(m *model.Query) model.Shape {
	var found diag.List
	shape := c.cat.Analyze(m.SQL, m.Pos, &found)
	for _, d := range found.Sorted() {
		d.Pos = m.Pos
		c.diags.Add(d)
	}
	return shape
}
