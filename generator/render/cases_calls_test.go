package render

import (
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// call is a step that calls another system: what it takes is params with args,
// what it returns columns.
func call(function string, options model.Call, params []model.Param, args []model.Source, columns ...model.Column) *model.Step {
	command := "one"
	if len(columns) == 0 {
		command = "exec"
	}
	return &model.Step{Name: function, Args: args, Query: &model.Query{Name: function, Command: command, Params: params, Columns: columns},
		Go: &model.GoStep{Func: function, Whole: params == nil, Call: &options}}
}

// chargeRide: two calls, one with everything and one that takes the operation's
// input and returns nothing.
func chargeRide() *plan.Operation {
	card, fare := body("card", textType), body("fare", bigint)
	table := model.TableName{Name: "rides"}
	insert := &model.Step{Name: "InsertRide", Query: &model.Query{Command: "one", Columns: []model.Column{column("id", bigint)},
		Shape: model.Shape{Kind: model.Insert, Writes: []model.TableName{table}}}}
	ride := model.Source{Kind: model.SourceStep, Step: "InsertRide", Column: "id"}
	charge := call("ChargeCard", model.Call{Undo: "RefundCharge", Hold: true, Lease: time.Minute},
		[]model.Param{{Number: 1, Name: "card", Type: textType}, {Number: 2, Name: "ride", Type: bigint}}, []model.Source{from(card), ride},
		column("charge_id", textType), column("fee", nullable(typ(model.KindNumeric, "pgtype.Numeric", pgtypePath))))
	charge.Errors = []model.ErrorRule{{Problem: model.Problem{Status: 402, Code: "card_declined", Title: "the card was declined"}, Declared: true}}
	notify := call("Notify", model.Call{Undo: "Apologise"}, nil, []model.Source{from(card), from(fare)})
	notify.Query.Params = []model.Param{{Number: 1, Name: "card", Type: textType}, {Number: 2, Name: "fare", Type: bigint}}
	op := operation("ChargeRide", "charge_ride", "POST", "/v1/rides", 201, headerKey, &model.Step{Query: &model.Query{}}, card, fare, tenant)
	op.Steps, op.Spec = []*model.Step{insert, charge, notify}, true
	op.Response = model.Response{Kind: model.ResponseStep, Step: "ChargeCard"}
	return &plan.Operation{Model: op, Strategy: plan.Stepped, RoundTrips: 7, Reason: "2 calls of other systems", Statements: []plan.Statement{
		{Name: "step.InsertRide", SQL: "SELECT 1;\n", Args: args(tenant, fare), Results: plan.Results{Text: []string{"id"}}},
	}}
}

// createPayout: async, of one statement, with an optional key.
func createPayout() *plan.Operation {
	account := input(model.FromPath, "account", bigint)
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{column("id", bigint)}}}
	op := operation("CreatePayout", "create_payout", "POST", "/v1/accounts/{account}/payouts", 201, optionalKey, step, account, tenant)
	op.Async = true
	return &plan.Operation{Model: op, Strategy: plan.Stepped, RoundTrips: 1, Reason: "async: done in the background", Statements: []plan.Statement{
		{Name: "step.CreatePayout", SQL: "SELECT 1;\n", Args: args(account), Results: plan.Results{Row: true}},
	}}
}
