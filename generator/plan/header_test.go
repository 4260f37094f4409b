package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

func headerOf(name string, url bool, parts ...model.Part) func(*model.Operation) {
	return func(op *model.Operation) {
		op.Headers = []model.Header{{Name: name, URL: url, Parts: parts}}
	}
}

// Pitfall 31: a text in a header can't end it, and can't name another host.
func TestPitfall_31_HeaderValues(t *testing.T) {
	s := fresh(t, tables)
	in := values{"tenant_id": "t1", "order_id": "//evil.com?a b", "amount": "5", "note": "x\r\nSet-Cookie: a"}
	url := planned(t, operation(t, "CreatePayment", headerOf("Location", true, model.Part{Text: "/"}, model.Part{Name: "order_id"}), createPayment()))
	s.equal(s.must(url, "k", in).headers, `{"Location": "/%2F%2Fevil.com%3Fa%20b"}`)
	in["order_id"] = "2"
	plain := planned(t, operation(t, "CreatePayment", headerOf("X-Note", false, model.Part{Name: "note"}), createPayment()))
	_, err := s.run(plain, "k2", in)
	if state, _ := code(err); state != "IDM02" {
		t.Errorf("control characters: %v", err)
	}
	delete(in, "note")
	s.equal(s.must(plain, "k2", in).headers, `{}`) // NULL: no header
}

func TestHeadersOfAList(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'a', 5)")
	op := planned(t, operation(t, "CopyLines", headerOf("X-First", false, model.Part{Name: "payment_id"}), copyLines()))
	s.equal(s.must(op, "k1", values{"tenant_id": "t1", "sku": "s", "qty": "1"}).headers, `{"X-First": "1"}`)
	s.equal(s.must(op, "k2", values{"tenant_id": "t2", "sku": "s", "qty": "1"}).headers, `<null>`)
}
