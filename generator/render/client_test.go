package render

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// clientCases are the emitted services, and one with a value of each kind
// wherever a request can have it.
func clientCases() []emitCase {
	gateway := openService()
	gateway.Profile, gateway.JSON.BigintString, gateway.JSON.One = "gateway", true, ""
	return append(emitCases()[:2], emitCases()[3], newCase("kinds", gateway, everyKind(), takesBytes(), typedPages()))
}

// TestClient compares the emitted clients with the golden folders, which
// TestGoldensRun compiles.
func TestClient(t *testing.T) {
	for _, c := range clientCases() {
		t.Run(c.name, func(t *testing.T) {
			folder := c.name + "client"
			got, err := Client(folder, c.svc, c.ops)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range got {
				wantGofmt(t, f)
				got[i] = files.File{Path: strings.TrimPrefix(f.Path, folder+"/"), Content: f.Content}
			}
			compareFolder(t, filepath.Join("testdata", "golden", folder), got)
		})
	}
}

func everyKind() *plan.Operation {
	kinds := []model.Kind{model.KindBool, model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat8,
		model.KindText, model.KindUUID, model.KindTimestamptz, model.KindDate, model.KindBytea, model.KindJSON}
	var inputs []*model.Input
	var columns []model.Column
	for _, k := range kinds {
		name, t := strings.ToLower(string(k)), model.Type{Kind: k}
		null, list := t, t
		null.Nullable, list.Array = true, true
		inputs = append(inputs, body(name, t), body(name+"_null", null), body(name+"_list", list))
		asked := body("asked."+name, null)
		asked.GoName, asked.HasAsked = "Asked."+goName(name), true
		inputs = append(inputs, asked, input(model.FromQuery, "q_"+name, t), input(model.FromQuery, "q_"+name+"_null", null))
		columns = append(columns, column(name, t), column(name+"_null", null), column(name+"_list", list))
	}
	inputs = append(inputs,
		input(model.FromPath, "id", model.Type{Kind: model.KindTimestamptz}),
		input(model.FromHeader, "X-Tags", model.Type{Kind: model.KindText, Array: true}),
		body("lines", model.Type{Kind: model.KindRecord, List: true, Members: []model.Member{
			{Name: "at", Type: model.Type{Kind: model.KindTimestamptz}, Required: true}, {Name: "note", Type: nullable(model.Type{Kind: model.KindText})},
		}}))
	step := &model.Step{Query: &model.Query{Command: "one", Columns: columns, Shape: model.Shape{Kind: model.Select}},
		Empty: model.Empty{Fine: true, Status: 200}}
	op := operation("EveryKind", "every_kind", "PUT", "/kinds/{id}", 200, headerKey, step, inputs...)
	op.Description, op.Policy.ForceRetry = "Take everything.", true
	return &plan.Operation{Model: op, Strategy: plan.Fused, MayBeEmpty: true}
}

// takesBytes has no method in a client.
func takesBytes() *plan.Operation {
	whole := body("", model.Type{Kind: model.KindBytea})
	op := operation("TakesBytes", "takes_bytes", "POST", "/bytes", 204, noKey, &model.Step{Query: &model.Query{Command: "exec"}}, whole)
	op.BodyWhole = true
	return &plan.Operation{Model: op, Strategy: plan.Direct}
}

// typedPages is followed by a text, whose column has another name than the
// parameter.
func typedPages() *plan.Operation {
	after := input(model.FromQuery, "after", textType)
	step := &model.Step{
		Query: &model.Query{Command: "many", Columns: []model.Column{column("name", textType)},
			SQL: "SELECT t.name FROM t WHERE t.name > $1 ORDER BY t.name LIMIT 10"},
		Args: []model.Source{from(after)},
	}
	op := operation("Client", "client", "GET", "/pages", 200, noKey, step, after)
	return &plan.Operation{Model: op, Strategy: plan.Direct}
}

// TestPagesAreFollowedOnlyWhereTheCursorIsEvident: a wrong guess would leave
// items out, or never end.
func TestPagesAreFollowedOnlyWhereTheCursorIsEvident(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT id FROM t WHERE id > $1 ORDER BY id":                 "id",
		"select id from t where t.id>$1 order by t.id asc limit $2":  "id",
		"SELECT id FROM t WHERE id > $1 ORDER BY id DESC":            "",
		"SELECT id FROM t WHERE id < $1 ORDER BY id DESC":            "",
		"SELECT id FROM t WHERE id >= $1 ORDER BY id":                "",
		"SELECT id FROM t WHERE id > $1 ORDER BY created_at":         "",
		"SELECT id FROM t WHERE id > $1 ORDER BY id, name":           "",
		"SELECT id FROM t WHERE id > $1":                             "",
		"SELECT id FROM t WHERE id > $10 ORDER BY id":                "",
		"SELECT id FROM t WHERE (at, id) > ($2, $1) ORDER BY at, id": "",
		"SELECT id FROM t WHERE id > $1 ORDER BY id OFFSET 5":        "",
	} {
		after := input(model.FromQuery, "after", bigint)
		m := &model.Operation{Steps: []*model.Step{{Query: &model.Query{SQL: sql}, Args: []model.Source{from(after)}}}}
		if got := cursorOf(m, "after"); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestClientKnowsWhichAnswersAreTheOperations: a redirect that nobody declared, and
// a success without its body, come of something between.
func TestClientKnowsWhichAnswersAreTheOperations(t *testing.T) {
	for _, c := range []struct {
		method             string
		status             int
		redirects, returns bool
	}{{"POST", 201, false, true}, {"POST", 303, true, true}, {"POST", 204, false, false}, {"HEAD", 200, false, false}} {
		step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{column("id", bigint)}, Shape: model.Shape{Kind: model.Select}}}
		op := operation("Ask", "ask", c.method, "/ask", c.status, noKey, step)
		got, err := Client("client", openService(), []*plan.Operation{{Model: op, Strategy: plan.Direct}})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range got {
			all.Write(f.Content)
		}
		for field, want := range map[string]bool{"Redirects: true": c.redirects, "Returns:   true": c.returns} {
			if strings.Contains(strings.ReplaceAll(all.String(), "Redirects:  true", "Redirects: true"), field) != want {
				t.Errorf("%s %d: %q is %t, want %t", c.method, c.status, field, !want, want)
			}
		}
	}
}
