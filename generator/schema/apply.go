package schema

import (
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// apply applies one statement of a migration. Grants, comments, data
// and all else that doesn't change tables or types is passed over.
func (b *builder) apply(stmt *pg.Node, span sqltext.Span, text string) {
	b.noteOpaque(stmt)
	switch n := stmt.Node.(type) {
	case *pg.Node_CreateStmt:
		b.createTable(n.CreateStmt)
	case *pg.Node_CreateForeignTableStmt:
		b.createTable(n.CreateForeignTableStmt.BaseStmt)
	case *pg.Node_CreateTableAsStmt:
		s := n.CreateTableAsStmt
		b.createTableAs(s.Into, s.Query, s.IfNotExists, s.Objtype == pg.ObjectType_OBJECT_MATVIEW)
	case *pg.Node_SelectStmt:
		b.applySelect(n.SelectStmt, stmt)
	case *pg.Node_AlterTableStmt:
		b.alterTable(n.AlterTableStmt)
	case *pg.Node_IndexStmt:
		b.createIndex(n.IndexStmt)
	case *pg.Node_ViewStmt:
		b.createView(n.ViewStmt)
	case *pg.Node_CreateTrigStmt:
		b.createTrigger(n.CreateTrigStmt)
	case *pg.Node_RuleStmt:
		b.createRule(n.RuleStmt)
	case *pg.Node_CreateFunctionStmt:
		b.noteFunction(n.CreateFunctionStmt)
	case *pg.Node_DefineStmt:
		b.noteAggregate(n.DefineStmt)
	case *pg.Node_DoStmt:
		b.applyDo(n.DoStmt, span, text)
	case *pg.Node_VariableSetStmt:
		b.setVariable(n.VariableSetStmt)
	case *pg.Node_CreateSchemaStmt:
		b.createSchema(n.CreateSchemaStmt, span, text)
	default:
		b.applyType(stmt)
	}
}

// applyType applies what makes and changes types, and what names objects of
// several kinds.
func (b *builder) applyType(stmt *pg.Node) {
	switch n := stmt.Node.(type) {
	case *pg.Node_CreateEnumStmt:
		b.createEnum(n.CreateEnumStmt)
	case *pg.Node_AlterEnumStmt:
		b.alterEnum(n.AlterEnumStmt)
	case *pg.Node_CreateDomainStmt:
		b.createDomain(n.CreateDomainStmt)
	case *pg.Node_AlterDomainStmt:
		b.alterDomain(n.AlterDomainStmt)
	case *pg.Node_CompositeTypeStmt:
		b.createComposite(n.CompositeTypeStmt)
	case *pg.Node_RenameStmt:
		b.rename(n.RenameStmt)
	case *pg.Node_AlterObjectSchemaStmt:
		b.moveSchema(n.AlterObjectSchemaStmt)
	case *pg.Node_DropStmt:
		b.drop(n.DropStmt)
	}
}

// applySelect knows two selects that change something: SELECT INTO, and the
// set_config with which pg_dump begins.
func (b *builder) applySelect(q *pg.SelectStmt, stmt *pg.Node) {
	if q.IntoClause != nil {
		b.createTableAs(q.IntoClause, stmt, false, false)
		return
	}
	if len(q.TargetList) != 1 {
		return
	}
	call := q.TargetList[0].GetResTarget().GetVal().GetFuncCall()
	if funcName(call) != "set_config" || len(call.Args) < 2 || call.Args[0].GetAConst().GetSval().GetSval() != "search_path" {
		return
	}
	b.setPath(strings.Split(call.Args[1].GetAConst().GetSval().GetSval(), ","))
}

func (b *builder) setVariable(stmt *pg.VariableSetStmt) {
	if stmt.Name != "search_path" {
		return
	}
	if stmt.Kind != pg.VariableSetKind_VAR_SET_VALUE {
		b.path = []string{defaultSchema}
		return
	}
	var names []string
	for _, n := range stmt.Args {
		value := n.GetAConst().GetSval().GetSval()
		if len(stmt.Args) == 1 {
			names = append(names, strings.Split(value, ",")...)
			continue
		}
		names = append(names, value)
	}
	b.setPath(names)
}

// setPath notes the search_path for the rest of the file. What it makes is
// found by its plain name later, as in the session of the service.
func (b *builder) setPath(names []string) {
	b.path = nil
	for _, n := range names {
		n = strings.Trim(strings.TrimSpace(n), `"`)
		if n == "" || n == "$user" || n == "pg_catalog" {
			continue
		}
		b.path = append(b.path, n)
		if n != defaultSchema && !slices.Contains(b.cat.path, n) {
			b.cat.path = append(b.cat.path, n)
		}
	}
}

// createSchema applies the statements inside a CREATE SCHEMA.
func (b *builder) createSchema(stmt *pg.CreateSchemaStmt, span sqltext.Span, text string) {
	path := b.path
	b.path = append([]string{stmt.Schemaname}, path...)
	for _, n := range stmt.SchemaElts {
		b.apply(n, span, text)
	}
	b.path = path
}

// Events of a trigger, as PostgreSQL numbers them.
const (
	triggerBefore  = 1 << 1
	triggerInsert  = 1 << 2
	triggerDelete  = 1 << 3
	triggerUpdate  = 1 << 4
	triggerInstead = 1 << 6
)

func (b *builder) createTrigger(stmt *pg.CreateTrigStmt) {
	t := b.table(stmt.Relation, false)
	if t == nil || stmt.Events&(triggerInsert|triggerDelete|triggerUpdate) == 0 {
		return
	}
	if t.history.triggers == nil {
		t.history.triggers = map[string]trigger{}
	}
	t.history.triggers[stmt.Trigname] = trigger{
		statement: !stmt.Row,
		row:       stmt.Row && stmt.Timing&(triggerBefore|triggerInstead) != 0,
	}
}

func (b *builder) createRule(stmt *pg.RuleStmt) {
	t := b.table(stmt.Relation, false)
	if t == nil {
		return
	}
	if t.history.rules == nil {
		t.history.rules = map[string]bool{}
	}
	t.history.rules[stmt.Rulename] = true
}

// drop applies DROP of any kind of object that the catalog knows.
func (b *builder) drop(stmt *pg.DropStmt) {
	for _, object := range stmt.Objects {
		name := dropName(object)
		switch stmt.RemoveType {
		case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW, pg.ObjectType_OBJECT_FOREIGN_TABLE:
			if t, ok := find(b, b.tables, name); ok {
				b.dropTable(t)
			}
		case pg.ObjectType_OBJECT_INDEX:
			b.dropIndex(name)
		case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
			b.dropType(name)
		case pg.ObjectType_OBJECT_SCHEMA:
			b.dropSchema(object.GetString_().GetSval())
		case pg.ObjectType_OBJECT_TRIGGER, pg.ObjectType_OBJECT_RULE:
			parts := texts(object.GetList().GetItems())
			if t, ok := find(b, b.tables, qualified(parts[:len(parts)-1])); ok {
				delete(t.history.triggers, name.Name)
				delete(t.history.rules, name.Name)
			}
		}
	}
}

func dropName(object *pg.Node) model.TableName {
	if t := object.GetTypeName(); t != nil {
		return qualified(texts(t.Names))
	}
	return qualified(texts(object.GetList().GetItems()))
}

func (b *builder) dropSchema(schema string) {
	for name, t := range b.tables {
		if name.Schema == schema {
			b.dropTable(t)
		}
	}
	for name := range b.enums {
		if name.Schema == schema {
			b.dropType(name)
		}
	}
	for name := range b.domains {
		if name.Schema == schema {
			b.dropType(name)
		}
	}
}
