package check

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// callEndpoint has a call behind the INSERT.
func callEndpoint(call, rest string) service {
	return endpoint("    steps:\n      - query: InsertPayment\n      - call: Charge\n" + call + rest)
}

// A call keeps what its step says, and gets no Queries.
func TestCallStep(t *testing.T) {
	op := callEndpoint(`        request: {amount: InsertPayment.amount, card: text}
        returns: {charge: text}
        undo: Refund
        unknown: hold
        lease: 1m
        error: {declined: 402}
`, "").operation(t)
	step := op.Steps[1]
	if want := (model.Call{Undo: "Refund", UndoPos: step.Go.Call.UndoPos, Hold: true, Lease: time.Minute}); *step.Go.Call != want || step.Go.Package.Import != "" {
		t.Errorf("got %+v", step.Go)
	}
	if !op.Durable() || op.Async || op.Calls() != 1 {
		t.Errorf("durable %v, async %v, %d calls", op.Durable(), op.Async, op.Calls())
	}
	if len(step.Errors) != 1 || step.Errors[0].Problem.Code != "declined" || step.Errors[0].Constraint != "" {
		t.Errorf("got %+v", step.Errors)
	}
	if in := inputNamed(t, op, "body.card"); in != step.Args[1].Input {
		t.Errorf("got %+v", step.Args[1])
	}
}

func TestCallStepRefusals(t *testing.T) {
	callEndpoint("        error: {payments_amount_check: 422}\n", "").
		refuses(t, want{diag.ConstraintUnused, "Charge calls another system and runs no statement", "card_declined: 402", "payments_amount_check"})
	callEndpoint("        error: {23505: 409 taken}\n", "").
		refuses(t, want{diag.ConstraintUnused, "so it can't violate 23505", "", "23505"})
	callEndpoint("", "      - {go: Charge, as: Again}\n").
		refuses(t, want{diag.NameCollision, "runs inside a transaction at one place", "another name", ""})
	callEndpoint("        undo: Charge\n", "").
		refuses(t, want{diag.NameCollision, "takes a call back here, and is a step", "another name", ""})
	callEndpoint("        undo: Refund\n", "      - {call: Other, undo: Refund, request: {a: text}}\n").
		refuses(t, want{diag.NameCollision, "the Go function Refund takes back Other here and Charge at", "another name", ""})
	callEndpoint("        undo: Refund\n", "      - {call: Charge, as: Again, undo: Refund}\n").ok(t)
}

// What an operation can't have whose progress is kept: over every word that makes
// it durable.
func TestDurableRefusals(t *testing.T) {
	call := func(words string) service {
		return callEndpoint("", "    "+strings.ReplaceAll(strings.TrimSpace(words), "\n", "\n    ")+"\n")
	}
	async := func(lines ...string) service {
		return service{queries: words(createPayment, append(lines, "-- @async")...)}
	}
	for _, c := range []struct {
		service
		want
	}{
		{call("key: none"), want{diag.KeyRule, "a `call:` step needs a key", "key: header", ""}},
		{async("-- @key none"), want{diag.KeyRule, "@async needs a key", "", ""}},
		{call("policy: record=sealed"), want{diag.PolicyForm, "record=sealed of PlaceOrder can't be", "record=none", ""}},
		{async("-- @policy record=sealed"), want{diag.PolicyForm, "record=sealed of CreatePayment can't be", "record=none", ""}},
	} {
		c.refuses(t, c.want)
	}
	gateway := async("-- @policy force_retry=on")
	gateway.config = func(c *config.Config) { c.Profile = "gateway" }
	gateway.refuses(t, want{diag.PolicyForm, "CreatePayment can't be forced to run again: @async is continued", "force_retry=off", ""})
	defaults := async()
	defaults.config = func(c *config.Config) { c.DefaultKeys = map[string]spec.Key{"POST": {From: "none"}} }
	defaults.refuses(t, want{diag.KeyRule, "@async needs a key", "@key header", "@async"})
	read := service{queries: "-- name: Get :one\n-- @http GET /v1/payments/{id}\n-- @async\nSELECT amount FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n"}
	if _, got := read.check(t); len(got) == 0 || got[0].Code != diag.RouteForm || !strings.Contains(got[0].Message, "GET must change nothing") {
		t.Errorf("got %v", got)
	}
}

// 202 of an async operation is what it answers at once; what is recorded later has
// the usual status.
func TestAsyncRecordsTheUsualStatus(t *testing.T) {
	accepted := strings.Replace(createPayment, "/v1/payments", "/v1/payments 202", 1)
	for text, status := range map[string]int{words(accepted, "-- @async"): 201, words(createPayment, "-- @async"): 201, accepted: 202} {
		if got := (service{queries: text}).operation(t).Status; got != status {
			t.Errorf("status %d, want %d:\n%s", got, status, text)
		}
	}
}

// The status of an async operation has a route and a method of its own.
func TestAsyncStatusMeetsNothing(t *testing.T) {
	get := "\n-- name: %s :one\n-- @http GET /v1/%s/{id}\nSELECT amount FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n"
	async := words(createPayment, "-- @async")
	service{queries: async + strings.NewReplacer("%s :one", "GetPayment :one", "%s", "payments").Replace(get)}.
		refuses(t, want{diag.RouteConflict, "the status of CreatePayment is at GET /v1/payments/{event_id}, where GetPayment is", "POST /v1/payments/requests", ""})
	service{queries: async + strings.NewReplacer("%s :one", "CreatePaymentStatus :one", "%s", "other").Replace(get)}.
		refuses(t, want{diag.NameCollision, "CreatePaymentStatus is that of the status method of operation CreatePayment", "@operation", ""})
	service{queries: async + strings.NewReplacer("%s :one", "GetPayment :one", "%s", "other").Replace(get)}.ok(t)
}
