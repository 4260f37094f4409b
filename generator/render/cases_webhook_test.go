package render

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// onlyHooks is a service that clients call nothing of: two receivers of one system,
// one of them for the rest.
func onlyHooks() emitCase {
	moved, rest := moveStock(), moveStock()
	moved.Model.Webhook = &model.Webhook{System: "depot", Types: []string{"stock.moved"}}
	rest.Model.Webhook = &model.Webhook{System: "depot"}
	rest.Model.Name, rest.Model.FileBase = "NoteRest", "note_rest"
	for _, op := range []*plan.Operation{moved, rest} {
		op.Model.Method, op.Model.Path, op.Model.Status = "POST", "/webhooks/depot", 200
		op.Model.Key = model.Key{From: "delivery"}
	}
	return newCase("hooks", openService(), moved, rest)
}
