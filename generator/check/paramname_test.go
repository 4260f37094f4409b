package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// TestParameterNamesThatSqlcMisread: what is not a name is refused, also where
// no rule about the text has seen why.
func TestParameterNamesThatSqlcMisread(t *testing.T) {
	for name, refused := range map[string]bool{
		"percent": false, "Percent_2": false, "größe": false, "a$b": false,
		"*basket_centspg_catalogint8@/percent": true, "/percent": true, "a.b": true, "2a": true,
	} {
		var diags diag.List
		c := &checker{diags: &diags, cat: schema.Build(nil, &diag.List{})}
		q := &query{decl: &spec.QueryDecl{Name: "Q", File: "q.sql", Pos: diag.Pos{File: "q.sql", Line: 1, Col: 1}}, src: &sqlcrun.Query{Params: []sqlcrun.Column{{
			Name: name, NotNull: true, GoField: "X", TypeName: model.TableName{Name: "bigint"}, GoType: model.GoType{Expr: "int64"},
		}}}}
		c.params(q, &model.Query{})
		if got := diags.Sorted(); (len(got) == 1 && got[0].Code == diag.ParamBroken) != refused || !refused && len(got) > 0 {
			t.Errorf("%q: %v", name, got)
		}
	}
}
