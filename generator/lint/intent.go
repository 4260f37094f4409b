package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// inserts finds operations whose INSERTs no constraint keeps from happening
// again. They share a transaction, so one that is held holds all of them.
func (c *checker) inserts(op *model.Operation) {
	var first *model.Step
	for _, s := range statements(op) {
		if s.Intent != nil || s.Query.Shape.Kind == model.Insert && c.held(s) {
			return
		}
		if first == nil && s.Query.Shape.Kind == model.Insert {
			first = s
		}
	}
	if first == nil {
		return
	}
	what := fmt.Sprintf("once the record of its key is gone, after %s, the same request inserts into %s again", op.Policy.Success, first.Query.Shape.Target.Name)
	if !op.Key.Protects() {
		what = "it has no key and no intent: each retry inserts into " + first.Query.Shape.Target.Name + " again"
	}
	c.warn(op, diag.RiskNoIntent, first.Query.Pos, what,
		fmt.Sprintf("say what there may be only one of: -- @intent %s (COLUMNS); or take the risk: --allow %s:%s", first.Query.Shape.Target.Name, diag.RiskNoIntent, op.Name))
}

// held reports whether an INSERT can't happen twice for one request as it is.
func (c *checker) held(s *model.Step) bool {
	shape := &s.Query.Shape
	if shape.OnConflict != "" {
		return true
	}
	t := c.cat.Table(shape.Target)
	return t != nil && slices.ContainsFunc(t.Uniques, func(u *schema.Unique) bool {
		return len(u.Columns) > 0 && u.Where == "" && all(u.Columns, func(column string) bool { return givenByRequest(s, t.Name, column) })
	})
}

// givenByRequest reports whether a column gets a value that is the same for
// every copy of a request.
func givenByRequest(s *model.Step, table model.TableName, column string) bool {
	src, ok := feedOf(s, table, column)
	if !ok {
		return false
	}
	switch src.Kind {
	case model.SourceInput, model.SourceItem, model.SourceScope:
		return true
	}
	return false
}

// feedOf is what a column of an INSERT is filled with.
func feedOf(s *model.Step, table model.TableName, column string) (model.Source, bool) {
	for _, f := range s.Query.Shape.Feeds {
		if f.Assigned && f.Column == column && f.Table.Name == table.Name && f.Param >= 1 && f.Param <= len(s.Args) {
			return s.Args[f.Param-1], true
		}
	}
	return model.Source{}, false
}

// intents finds those that reach over the scope.
func (c *checker) intents(op *model.Operation) {
	if c.svc.ScopeSource.Kind == model.SourceNone {
		return
	}
	for _, s := range statements(op) {
		in := s.Intent
		if in == nil || in.ScopeIn || slices.ContainsFunc(in.Columns, func(column string) bool { return c.scoped(s, in.Table, column) }) {
			continue
		}
		c.warn(op, diag.RiskUnscoped, in.Pos,
			fmt.Sprintf("the intent %s (%s) does not include the column of the scope: a row of one caller is in the way of all others", in.Table.Name, strings.Join(in.Columns, ", ")),
			fmt.Sprintf("add the column that the scope is bound to; or, if it belongs to everybody: --allow %s:%s", diag.RiskUnscoped, op.Name))
	}
}

// scoped reports whether a column is filled with something of the caller.
func (c *checker) scoped(s *model.Step, table model.TableName, column string) bool {
	src, ok := feedOf(s, table, column)
	return ok && (src.Kind == model.SourceScope || src.Kind == model.SourceInput && src.Input != nil && src.Input.From == model.FromCaller)
}

func all[T any](list []T, f func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !f(v) })
}
