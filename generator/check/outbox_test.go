package check

import (
	"reflect"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// told is createPayment with events, and a boolean for their condition.
func told(events ...string) service {
	query := strings.Replace(createPayment, "RETURNING id, order_id, amount;", "RETURNING id, order_id, amount, (amount > 100)::boolean AS large;", 1)
	return service{queries: words(query, events...)}
}

func TestEventsAreResolved(t *testing.T) {
	op := told("-- @outbox payment.created key=order_id", "-- @outbox payment.large if=large columns=id,large", "-- @outbox payment.created").operation(t)
	events := op.Steps[0].Events
	for i := range events {
		events[i].Pos = diag.Pos{}
	}
	want := []model.Event{
		{Topic: "payment.created", Label: "CreatePayment payment.created 1", Key: "order_id"},
		{Topic: "payment.large", Label: "CreatePayment payment.large 1", If: "large", Columns: []string{"id", "large"}},
		{Topic: "payment.created", Label: "CreatePayment payment.created 2"},
	}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("got  %+v\nwant %+v", events, want)
	}
}

// What a step says of its events replaces what the query says.
func TestEventsOfAStepReplaceThoseOfItsQuery(t *testing.T) {
	s := told("-- @outbox payment.created")
	s.queries = strings.Replace(s.queries, "-- @http POST /v1/payments\n", "", 1)
	s.specs = "endpoints:\n  Pay:\n    http: POST /v1/payments\n    steps: [{query: CreatePayment, as: Made, outbox: payment.made key=id}]\n    response: Made\n"
	events := s.operation(t).Steps[0].Events
	if len(events) != 1 || events[0].Topic != "payment.made" || events[0].Label != "Made payment.made 1" {
		t.Errorf("%+v", events)
	}
}

func TestEventsThatCantBe(t *testing.T) {
	told("-- @outbox a key=ordr_id").refuses(t, want{diag.ColumnUnknown, "key= names the column ordr_id, which CreatePayment does not return", "did you mean order_id?", "ordr_id"})
	told("-- @outbox a columns=id,status").refuses(t, want{diag.ColumnUnknown, "columns= names the column status", "return it: (…) AS status", "status"})
	told("-- @outbox a if=amount").refuses(t, want{diag.ColumnUnknown, "@outbox if= needs a boolean, but amount is bigint", "return a condition", "amount"})
	told("-- @outbox a if=big").refuses(t, want{diag.ColumnUnknown, "@outbox if= names the column big", "return it", "big"})
	told("-- @outbox a", "-- @key none").refuses(t, want{diag.KeyRule, "@outbox a needs a key, and CreatePayment has none", "add @key header", "a"})
	service{queries: "-- name: GetPayment :one\n-- @http GET /v1/payments/{id}\n-- @outbox a\nSELECT id FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n"}.
		refuses(t, want{diag.KeyRule, "needs a key, and GetPayment has none", "a GET reads", "a"})
	service{queries: "-- name: DropPayment :exec\n-- @http DELETE /v1/payments/{id}\n-- @outbox a\nDELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n"}.
		refuses(t, want{diag.EventForm, "is made of a row, and DropPayment is :exec", "make the query :one, with RETURNING", "a"})
	ruled := told("-- @outbox a")
	ruled.migrations = payments + "CREATE RULE also AS ON INSERT TO payments DO ALSO NOTIFY made;\n"
	ruled.refuses(t, want{diag.EventForm, "the table payments has rules", "a step of its own", "a"})
}
