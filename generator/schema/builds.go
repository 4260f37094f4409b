package schema

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// Migration is what one migration does that takes time or locks on a table
// that is in use.
type Migration struct {
	Path    string
	Creates []model.TableName // the tables that it makes
	Builds  []IndexBuild
}

// IndexBuild is an index that a migration builds.
type IndexBuild struct {
	Name         string // "" where PostgreSQL chooses it
	Table        model.TableName
	Unique       bool
	Concurrently bool
	Constraint   bool // by ALTER TABLE … ADD: UNIQUE, PRIMARY KEY or EXCLUDE
}

// Migrations lists what each file does, its Up part only. Files and statements
// that can't be read do nothing here: Build reports them.
func Migrations(files []File) []Migration {
	out := make([]Migration, len(files))
	for i, f := range files {
		out[i].Path = f.Path
		text := upPart(f.Text)
		for _, piece := range splitStatements(text) {
			result, err := pg.Parse(piece.In(text))
			if err != nil {
				continue
			}
			for _, raw := range result.Stmts {
				out[i].note(raw.Stmt)
			}
		}
	}
	return out
}

func (m *Migration) note(stmt *pg.Node) {
	switch n := stmt.Node.(type) {
	case *pg.Node_CreateStmt:
		m.Creates = append(m.Creates, rangeName(n.CreateStmt.Relation))
	case *pg.Node_CreateTableAsStmt:
		m.Creates = append(m.Creates, rangeName(n.CreateTableAsStmt.Into.GetRel()))
	case *pg.Node_IndexStmt:
		s := n.IndexStmt
		if s.Relation.GetInh() { // ON ONLY builds nothing
			m.Builds = append(m.Builds, IndexBuild{Name: s.Idxname, Table: rangeName(s.Relation), Unique: s.Unique, Concurrently: s.Concurrent})
		}
	case *pg.Node_AlterTableStmt:
		for _, cmd := range n.AlterTableStmt.Cmds {
			m.noteConstraint(rangeName(n.AlterTableStmt.Relation), cmd.GetAlterTableCmd().GetDef().GetConstraint())
		}
	}
}

// noteConstraint notes a constraint that is held by an index, unless that is
// there already (USING INDEX).
func (m *Migration) noteConstraint(table model.TableName, c *pg.Constraint) {
	if c == nil || c.Indexname != "" {
		return
	}
	switch c.Contype {
	case pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_EXCLUSION:
		m.Builds = append(m.Builds, IndexBuild{
			Name: c.Conname, Table: table, Constraint: true, Unique: c.Contype != pg.ConstrType_CONSTR_EXCLUSION,
		})
	}
}
