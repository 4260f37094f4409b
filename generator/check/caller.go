package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// callerField finds or adds a field of the emitted Caller. A field has one
// type in the whole service; the zero type takes whatever the others say.
func (c *checker) callerField(name string, t model.Type, pos diag.Pos) *model.Input {
	in := c.callers[name]
	if in == nil {
		in = &model.Input{From: model.FromCaller, Name: name, GoName: goName(name), Required: true, Type: t, Pos: pos}
		c.callers[name] = in
		return in
	}
	if t.Kind == "" {
		return in
	}
	if in.Type.Kind == "" {
		in.Type = t
		return in
	}
	if !mergeType(&in.Type, t) {
		c.diags.Errorf(diag.BindType, pos, "caller.%s is %s here and %s elsewhere", name, describe(t), describe(in.Type)).
			Hint("a caller field has one type in the whole service: cast one parameter in its SQL, as in @%s::%s", name, in.Type.Name)
	}
	return in
}

// finishCallers gives every field its final type. The scope is never null; a
// field that only the configuration names is text.
func (c *checker) finishCallers() {
	goNames := map[string]string{}
	for _, in := range c.callers {
		if in.Type.Kind == "" {
			in.Type = model.Type{Kind: model.KindText, Name: "text", GoType: model.GoType{Expr: "string"}}
		}
		if c.isScope(model.Source{Kind: model.SourceInput, Input: in}) {
			in.Type = notNull(in.Type)
		}
		in.Nullable = in.Type.Nullable
		in.Required = !in.Nullable
	}
	for _, name := range sortedKeys(c.callers) {
		in := c.callers[name]
		if other, ok := goNames[in.GoName]; ok {
			c.diags.Errorf(diag.NameCollision, in.Pos, "caller.%s and caller.%s have the same Go name %s", other, name, in.GoName).
				Hint("rename one of them")
		}
		goNames[in.GoName] = name
		c.svc.Caller = append(c.svc.Caller, model.CallerField{Name: name, GoName: in.GoName, Type: in.Type})
	}
}

// notNull drops the null from a type. Where sqlc only emitted the type of a
// nullable column, the Go type that it gives the same column with NOT NULL.
func notNull(t model.Type) model.Type {
	if !t.Nullable {
		return t
	}
	t.Nullable = false
	if expr, ok := strings.CutPrefix(t.GoType.Expr, "*"); ok {
		t.GoType.Expr = expr
		return t
	}
	switch t.GoType.Expr {
	case "pgtype.Text", "pgtype.Int8", "pgtype.Int4", "pgtype.Int2", "pgtype.Bool", "pgtype.Float8", "pgtype.Float4":
		t.GoType = defaultGoType(t)
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
