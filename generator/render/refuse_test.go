package render

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// Emit refuses what would not compile or not run, with the operation's name.
func TestEmitRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*model.Service, *plan.Operation)
		want   string
	}{
		{"a name of the emitted package", func(_ *model.Service, op *plan.Operation) { op.Model.Name = "Options" }, "Options"},
		{"a method of the service", func(_ *model.Service, op *plan.Operation) { op.Model.Name = "Mount" }, "Mount"},
		{"a scope that is no caller field", func(svc *model.Service, _ *plan.Operation) { svc.Caller = nil }, "caller.tenant_id"},
		{"an unknown profile", func(svc *model.Service, _ *plan.Operation) { svc.Profile = "soap" }, `"soap"`},
		{"no profile", func(svc *model.Service, _ *plan.Operation) { svc.Profile = "" }, `profile ""`},
		{"an unknown strategy", func(_ *model.Service, op *plan.Operation) { op.Strategy = "hope" }, `"hope"`},
		{"an argument of another operation", func(_ *model.Service, op *plan.Operation) {
			op.Statements[0].Args = args(body("stranger", textType))
		}, "body.stranger"},
		{"a response of an unknown step", func(_ *model.Service, op *plan.Operation) { op.Model.Response.Step = "Nope" }, "step Nope"},
		{"a section head inside a statement", func(_ *model.Service, op *plan.Operation) {
			op.Statements[0].SQL = "SELECT '\n-- statement: x';\n"
		}, "divides statements"},
		{"an intent key without parameters", func(_ *model.Service, op *plan.Operation) {
			op.Model.Key.From = "intent"
			op.Model.Steps[0].Intent = &model.Intent{Table: model.TableName{Name: "t"}, Columns: []string{"a"}}
		}, "t.a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svc, op := service(), namedOperation("Read", "read", "/v1/read")
			svc.Operations = []*model.Operation{op.Model}
			tt.change(svc, op)
			_, err := Emit("", svc, []*plan.Operation{op})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Two operations whose types would have one name are refused together.
func TestEmitRefusesMeetingNames(t *testing.T) {
	a, b := namedOperation("Read", "read", "/v1/a"), namedOperation("ReadInput", "read_input", "/v1/b")
	_, err := Emit("", service(a.Model, b.Model), []*plan.Operation{a, b})
	if err == nil || !strings.Contains(err.Error(), "operation Read and operation ReadInput both need the Go name ReadInput") {
		t.Errorf("got %v", err)
	}
}

// A service without operations still compiles: it is how one begins.
func TestEmitWithoutOperations(t *testing.T) {
	got, err := Emit("", service(), nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d files, %v", len(got), err)
	}
	wantGofmt(t, got[0])
}
