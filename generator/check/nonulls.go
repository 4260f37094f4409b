package check

import "github.com/idemgen/idemgen/generator/model"

// noNulls refuses null elements of arrays that Go functions take: their Go types,
// as in []bool, have none.
func (b *builder) noNulls() {
	for _, step := range b.op.Steps {
		if step.Go == nil {
			continue
		}
		for _, arg := range step.Args {
			if arg.Kind != model.SourceInput || arg.Input == nil {
				continue
			}
			t := &arg.Input.Type
			t.NoNulls = t.Array
			for i := range t.Members {
				t.Members[i].Type.NoNulls = t.Members[i].Type.Array
			}
		}
	}
}
