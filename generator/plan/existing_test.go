package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

func TestExistingRowAndSameInputs(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5.126)")
	op := plannedIn(t, &model.Service{JSON: model.JSONStyle{One: "payment"}}, operation(t, "CreatePayment", location, returning()))
	existing := op.section(t, "existing")
	tests := []struct {
		name string
		in   values
		want string
	}{
		{"equal", values{"tenant_id": "t1", "order_id": "o", "amount": "5.13"}, "t"},
		{"rounded as the column does", values{"tenant_id": "t1", "order_id": "o", "amount": "5.126"}, "t"},
		{"another amount", values{"tenant_id": "t1", "order_id": "o", "amount": "6"}, "f"},
		{"a note more", values{"tenant_id": "t1", "order_id": "o", "amount": "5.13", "note": "x"}, "f"},
		{"another tenant", values{"tenant_id": "t2", "order_id": "o", "amount": "5.13"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := s.send(existing, "", tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(rows) != 0 {
					t.Errorf("rows %v", rows)
				}
				return
			}
			if rows[0][2] != tt.want || rows[0][1] != `{"Location": "/payments/o"}` || rows[0][0][:20] != `{"payment":{"id":1,"` {
				t.Errorf("%v", rows[0])
			}
		})
	}
}

func TestExistingIsShownOnlyInsideTheScope(t *testing.T) {
	s := createPayment()
	s.change = func(s *model.Step) {
		paymentIntent("conflict")(s)
		s.Intent.ScopeIn = false
	}
	for _, st := range planned(t, operation(t, "CreatePayment", nil, s)).Statements {
		if st.Name == "existing" {
			t.Error("the row of another scope can be seen")
		}
	}
}

// An intent may name what the statement makes of a parameter, or a constant.
func TestExistingFollowsExpressions(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount, note) VALUES ('t1', 'low', 5, 'x')")
	pay := step{name: "Pay", command: "one", returns: "id bigint",
		sql: "INSERT INTO payments AS p (tenant_id, order_id, amount, note) VALUES (@tenant_id, lower(@order_id), 5, 'x') RETURNING p.id",
		change: func(s *model.Step) {
			paymentIntent("return")(s)
			s.Intent.Columns = []string{"tenant_id", "order_id", "note"}
			s.Intent.Where = "status <> 'void'"
		}}
	op := planned(t, operation(t, "Pay", nil, pay))
	rows, err := s.send(op.section(t, "existing"), "", values{"tenant_id": "t1", "order_id": "LOW"})
	if err != nil || len(rows) != 1 || rows[0][0] != `{"id":1}` || rows[0][2] != "t" {
		t.Errorf("%v, %v", rows, err)
	}
	s.exec("UPDATE payments SET status = 'void'")
	if rows, err := s.send(op.section(t, "existing"), "", values{"tenant_id": "t1", "order_id": "LOW"}); err != nil || len(rows) != 0 {
		t.Errorf("beside the predicate: %v, %v", rows, err)
	}
}

func TestReturnThatCantBeLookedUpIsRefused(t *testing.T) {
	pay := step{name: "Pay", command: "one", returns: "id bigint",
		sql:    "INSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, gen_random_uuid(), 5) RETURNING id",
		change: paymentIntent("return")}
	wantDiagnostic(t, diag.IntentReturn, operation(t, "Pay", nil, pay))
}
