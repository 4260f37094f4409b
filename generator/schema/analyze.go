package schema

import (
	"errors"
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// analysis is one statement being analyzed.
type analysis struct {
	cat   *Catalog
	stmt  *sqltext.Statement
	pos   diag.Pos
	diags *diag.List
	shape model.Shape

	uses       map[int]int        // how often each parameter occurs
	recordsets map[int]*recordset // by parameter
}

func (c *Catalog) analyze(sql string, pos diag.Pos, diags *diag.List) model.Shape {
	stmt, err := sqltext.Parse(sql)
	if err != nil {
		var e *sqltext.Error
		if errors.As(err, &e) {
			diags.Errorf(diag.QuerySyntax, moved(pos, sql, e.Offset), "%s", e.Message).
				Hint("PostgreSQL itself would refuse this statement")
		}
		return model.Shape{}
	}
	a := &analysis{cat: c, stmt: stmt, pos: pos, diags: diags, uses: map[int]int{}, recordsets: map[int]*recordset{}}
	a.shape.Kind = stmt.Kind
	if !a.supported() {
		return a.shape
	}
	a.facts()
	a.statement()
	a.named()
	a.finishRecordsets()
	return a.shape
}

// moved is pos, moved to a byte of the text that begins there.
func moved(pos diag.Pos, text string, offset int) diag.Pos {
	before := text[:min(max(offset, 0), len(text))]
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		pos.Line += strings.Count(before, "\n")
		pos.Col = len(before) - i
	} else {
		pos.Col = max(pos.Col, 1) + len(before)
	}
	pos.Width = 0
	return pos
}

func (a *analysis) at(offset int32) diag.Pos { return moved(a.pos, a.stmt.Text, int(offset)) }

// supported refuses the statements that can't be operations.
func (a *analysis) supported() bool {
	if a.stmt.Kind != "" {
		return true
	}
	pos := a.at(int32(a.stmt.Start))
	if a.stmt.Tree().GetMergeStmt() != nil {
		a.refuseMerge(pos)
		return false
	}
	a.diags.Errorf(diag.QueryUnsupport, pos, "only SELECT, INSERT, UPDATE and DELETE can be operations").
		Hint("remove the annotations of idemgen from this query, or call it from code of your own")
	return false
}

func (a *analysis) refuseMerge(pos diag.Pos) {
	a.diags.Errorf(diag.QueryUnsupport, pos, "MERGE is not supported: sqlc can't name its parameters").
		Hint("write INSERT … ON CONFLICT DO UPDATE, or an UPDATE and an INSERT as two steps")
}

// facts collects what holds wherever in the statement it stands.
func (a *analysis) facts() {
	f := factCollector{analysis: a, targets: map[*pg.RangeVar]bool{}, comparison: newComparison()}
	sqltext.Walk(a.stmt.Tree(), f.visit)
	a.shape.Compared = f.comparison.only(a.uses)
	for _, rel := range f.relations {
		if !f.targets[rel] && (rel.Schemaname != "" || !slices.Contains(f.ctes, rel.Relname)) {
			a.shape.Reads = appendNew(a.shape.Reads, rangeName(rel))
		}
	}
	for _, rel := range f.written {
		a.noteWrite(rel)
	}
	sortNames(a.shape.Reads)
	sortNames(a.shape.Writes)
	a.shape.ModifyingCTE = a.stmt.ModifyingCTEs()
}

// factCollector gathers the nodes of interest in one pass over the tree.
type factCollector struct {
	*analysis
	relations []*pg.RangeVar
	targets   map[*pg.RangeVar]bool
	written   []*pg.RangeVar
	ctes      []string

	comparison comparison
}

func (f *factCollector) visit(m proto.Message) bool {
	f.comparison.visit(m)
	switch n := m.(type) {
	case *pg.ParamRef:
		f.uses[int(n.Number)]++
	case *pg.RangeVar:
		f.relations = append(f.relations, n)
	case *pg.CommonTableExpr:
		f.ctes = append(f.ctes, n.Ctename)
	case *pg.LockingClause:
		f.shape.RowLocks = true
		f.shape.SkipLocked = f.shape.SkipLocked || n.WaitPolicy > pg.LockWaitPolicy_LockWaitBlock
	case *pg.RangeFunction:
		f.noteRecordset(n)
	case *pg.FuncCall:
		f.shape.Calls = f.shape.Calls || f.cat.mayWrite(n)
	case *pg.SelectStmt:
		f.noteEarly(n.FromClause, n.GetWithClause())
	case *pg.InsertStmt:
		f.write(n.Relation)
		f.shape.Rewrites = f.shape.Rewrites || n.GetOnConflictClause().GetAction() == pg.OnConflictAction_ONCONFLICT_UPDATE
		f.noteEarly(nil, n.GetWithClause())
	case *pg.UpdateStmt:
		f.write(n.Relation)
		f.shape.Rewrites = true
		f.noteEarly(n.FromClause, n.GetWithClause())
	case *pg.DeleteStmt:
		f.write(n.Relation)
		f.shape.Rewrites = true
		f.noteEarly(n.UsingClause, n.GetWithClause())
	case *pg.MergeStmt:
		f.refuseMerge(f.at(int32(f.stmt.Start)))
	}
	return true
}

func (f *factCollector) write(rel *pg.RangeVar) {
	f.targets[rel] = true
	f.written = append(f.written, rel)
}

// noteWrite adds a written table, its traits and, for a view, the tables behind
// it. One that no migration makes is an error: its constraints and triggers
// decide how the operation runs.
func (a *analysis) noteWrite(rel *pg.RangeVar) {
	name := rangeName(rel)
	t := a.cat.table(name)
	if t != nil && name.Schema == "" {
		name = t.writtenName() // found along the search_path
	}
	a.shape.Writes = appendNew(a.shape.Writes, name)
	if t == nil {
		a.diags.Errorf(diag.CatalogUnknown, a.at(rel.Location), "no migration makes the table %s", rangeName(rel)).
			Hint("idemgen reads the files that sqlc's `schema:` names; write the schema's name if it isn't public")
		return
	}
	joinTraits(&a.shape.TargetTraits, t.Traits)
	bases, _ := t.behind()
	for _, base := range bases {
		a.shape.Writes = appendNew(a.shape.Writes, base.writtenName())
	}
}

// joinTraits adds traits to others.
func joinTraits(to *model.TableTraits, t model.TableTraits) {
	to.StatementTriggers = to.StatementTriggers || t.StatementTriggers
	to.RowTriggers = to.RowTriggers || t.RowTriggers
	to.Rules = to.Rules || t.Rules
	to.Partitioned = to.Partitioned || t.Partitioned
	to.RowSecurity = to.RowSecurity || t.RowSecurity
	to.View = to.View || t.View
	to.OtherWrites = to.OtherWrites || t.OtherWrites
}

// writtenName is a table's name as a shape has it: without the default schema.
func (t *Table) writtenName() model.TableName {
	if t.Name.Schema == defaultSchema {
		return model.TableName{Name: t.Name.Name}
	}
	return t.Name
}

func appendNew(names []model.TableName, name model.TableName) []model.TableName {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func sortNames(names []model.TableName) {
	slices.SortFunc(names, func(x, y model.TableName) int { return strings.Compare(x.String(), y.String()) })
}

// statement analyzes the statement itself, its CTEs included.
func (a *analysis) statement() {
	a.shape.Target = a.stmt.Target.Name
	a.shape.TargetAlias = a.stmt.Target.Alias
	a.shape.Returning = a.stmt.Returning != nil
	tree := a.stmt.Tree()
	switch n := tree.Node.(type) {
	case *pg.Node_InsertStmt:
		a.insertShape(n.InsertStmt)
	case *pg.Node_SelectStmt:
		a.shape.Grouped = a.cat.isGrouped(n.SelectStmt)
	}
	a.noteNulls(a.query(tree, nil))
}

func (a *analysis) insertShape(n *pg.InsertStmt) {
	a.shape.InsertColumns = a.insertColumns(n)
	switch n.GetOnConflictClause().GetAction() {
	case pg.OnConflictAction_ONCONFLICT_NOTHING:
		a.shape.OnConflict = "nothing"
	case pg.OnConflictAction_ONCONFLICT_UPDATE:
		a.shape.OnConflict = "update"
	}
	source := a.stmt.Source
	single := source.Kind == sqltext.SourceValues && len(source.Rows) == 1
	a.shape.ValuesOfSets = single && a.cat.callsSets(n.GetSelectStmt().GetSelectStmt().GetValuesLists()[0])
	a.shape.SingleValues = source.Kind == sqltext.SourceDefault || single && !a.shape.ValuesOfSets
	if source.Kind == sqltext.SourceSelect {
		a.shape.Grouped = a.cat.isGrouped(n.GetSelectStmt().GetSelectStmt())
	}
}

// insertColumns are the columns that an INSERT fills, in order.
func (a *analysis) insertColumns(n *pg.InsertStmt) []string {
	var out []string
	for _, c := range n.Cols {
		out = append(out, c.GetResTarget().GetName())
	}
	t := a.cat.table(rangeName(n.Relation))
	if len(out) > 0 || t == nil || n.SelectStmt == nil {
		return out
	}
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	if width := sourceWidth(n.GetSelectStmt().GetSelectStmt()); width >= 0 {
		out = out[:min(width, len(out))]
	}
	return out
}

// sourceWidth is how many columns a query gives, -1 where a star hides it.
func sourceWidth(q *pg.SelectStmt) int {
	for q.GetLarg() != nil {
		q = q.GetLarg()
	}
	if len(q.GetValuesLists()) > 0 {
		return len(q.ValuesLists[0].GetList().GetItems())
	}
	for _, n := range q.GetTargetList() {
		if _, _, star, _ := columnName(n.GetResTarget().GetVal()); star {
			return -1
		}
	}
	return len(q.GetTargetList())
}

// named refuses result columns without a name.
func (a *analysis) named() {
	var targets []*pg.Node
	switch n := a.stmt.Tree().Node.(type) {
	case *pg.Node_SelectStmt:
		q := n.SelectStmt
		for q.GetLarg() != nil {
			q = q.Larg
		}
		targets = q.TargetList
	case *pg.Node_InsertStmt:
		targets = n.InsertStmt.GetReturningClause().GetExprs()
	case *pg.Node_UpdateStmt:
		targets = n.UpdateStmt.GetReturningClause().GetExprs()
	case *pg.Node_DeleteStmt:
		targets = n.DeleteStmt.GetReturningClause().GetExprs()
	}
	for _, n := range targets {
		target := n.GetResTarget()
		if _, _, star, _ := columnName(target.GetVal()); star || targetName(target) != "" {
			continue
		}
		a.diags.Errorf(diag.QueryUnsupport, a.at(target.GetLocation()), "this result column has no name").
			Hint("add AS name: it becomes the name of the member in the response")
	}
}
