package render

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/generator/plan"
)

// BenchmarkEmit300 renders a service of 300 operations.
func BenchmarkEmit300(b *testing.B) {
	svc := service()
	var ops []*plan.Operation
	for i := range 300 {
		op := createPayment()
		op.Model.Name = fmt.Sprintf("CreatePayment%d", i)
		op.Model.FileBase = fmt.Sprintf("create_payment%d", i)
		op.Model.Response.Step = op.Model.Name
		op.Model.Steps[0].Name = op.Model.Name
		svc.Operations = append(svc.Operations, op.Model)
		ops = append(ops, op)
	}
	for b.Loop() {
		if _, err := Emit("api", svc, ops); err != nil {
			b.Fatal(err)
		}
	}
}
