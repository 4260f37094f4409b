package generator

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// Webhooks are requests of other systems: neither the OpenAPI document nor the
// typed client has them.
func TestWebhooksAreNotForClients(t *testing.T) {
	own := &plan.Operation{Model: &model.Operation{Name: "CreatePayment"}}
	hook := &plan.Operation{Model: &model.Operation{Name: "PaymentCaptured", Webhook: &model.Webhook{System: "psp"}}}
	all := []*plan.Operation{hook, own, hook}
	if got := forClients(all); len(got) != 1 || got[0] != own {
		t.Errorf("%d operations for clients", len(got))
	}
	if all[0] != hook || all[2] != hook {
		t.Error("the operations of the service were changed")
	}
}
