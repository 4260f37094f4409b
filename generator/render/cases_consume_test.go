package render

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// onlyConsumers is a service that clients call nothing of: two consumers of one topic,
// one of them for the rest.
func onlyConsumers() emitCase {
	moved, rest := moveStock(), moveStock()
	moved.Model.Consumer = &model.Consumer{Topic: "stock", Types: []string{"stock.moved", "stock.lost"}}
	rest.Model.Consumer = &model.Consumer{Topic: "stock"}
	rest.Model.Name, rest.Model.FileBase = "NoteRest", "note_rest"
	for _, op := range []*plan.Operation{moved, rest} {
		op.Model.Method, op.Model.Path, op.Model.Status = model.ConsumeMethod, "stock", 200
		op.Model.Key = model.Key{From: "message"}
	}
	return newCase("consumers", openService(), moved, rest)
}
