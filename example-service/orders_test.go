package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func orderBody(items ...string) string {
	return `{"reference": "R-1", "items": [` + strings.Join(items, ", ") + `]}`
}

const pen = `{"sku": "PEN-1", "qty": 2, "price": "3.50"}`

func TestPlaceOrder(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	first := c.post(t, "/v1/orders", "k", orderBody(pen, `{"sku": "INK", "qty": 10, "price": 0.1}`))
	m := first.must(t, 201)
	if m["total"] != "8.00" || fmt.Sprint(m["line_count"]) != "2" || m["reference"] != "R-1" {
		t.Errorf("%s", first.body)
	}
	c.post(t, "/v1/orders", "k", orderBody(`{"price": 3.5, "qty": 2.0, "sku": "PEN-1"}`, `{"sku": "INK", "qty": 10, "price": "0.10"}`)).replays(t, first)
	c.post(t, "/v1/orders", "k", orderBody(`{"sku": "INK", "qty": 10, "price": 0.1}`, pen)).refused(t, 422, "key-reused") // the order of a list counts

	lines := query[string](t, s.pool, "SELECT string_agg(concat_ws(' ', sku, qty, price), ', ' ORDER BY sku) FROM order_lines")
	if lines != "INK 10 0.10, PEN-1 2 3.50" {
		t.Errorf("lines %s", lines)
	}
	empty := c.post(t, "/v1/orders", newKey(), orderBody())
	if m := empty.must(t, 201); m["total"] != "0" || fmt.Sprint(m["line_count"]) != "0" {
		t.Errorf("%s", empty.body)
	}
}

// Errors name the line item and its member.
func TestPlaceOrderErrors(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	items := func(second string) string { return orderBody(pen, second) }
	for name, test := range map[string]struct {
		body     string
		status   int
		code     string
		pointers []string
	}{
		"none":             {items(`{"sku": "A", "qty": 0, "price": 1}`), 422, "input-invalid", []string{"/items/1/qty"}},
		"too many":         {items(`{"sku": "A", "qty": 1001, "price": 1}`), 422, "input-invalid", []string{"/items/1/qty"}},
		"no number":        {items(`{"sku": "A", "qty": "1", "price": 1}`), 422, "input-invalid", []string{"/items/1/qty"}},
		"absent":           {items(`{"sku": "A", "price": 1}`), 422, "input-invalid", []string{"/items/1/qty"}},
		"null":             {items(`{"sku": "A", "qty": null, "price": 1}`), 422, "input-invalid", []string{"/items/1/qty"}},
		"everything":       {items(`{"sku": "a", "qty": -1, "price": "-0.01"}`), 422, "input-invalid", []string{"/items/1/sku", "/items/1/qty", "/items/1/price"}},
		"no price":         {items(`{"sku": "A", "qty": 1, "price": "NaN"}`), 422, "input-invalid", []string{"/items/1/price"}},
		"unknown":          {items(`{"sku": "A", "qty": 1, "price": 1, "colour": "red"}`), 400, "member-unknown", []string{"/items/1/colour"}},
		"twice":            {items(`{"sku": "A", "qty": 1, "qty": 2, "price": 1}`), 400, "member-duplicate", nil},
		"no object":        {items(`"PEN-1"`), 422, "input-invalid", []string{"/items/1"}},
		"null in the list": {items("null"), 422, "input-invalid", []string{"/items/1"}},
		"no list":          {`{"reference": "R-1", "items": ` + pen + `}`, 422, "input-invalid", []string{"/items"}},
		"null list":        {`{"reference": "R-1", "items": null}`, 422, "input-invalid", []string{"/items"}},
		"absent list":      {`{"reference": "R-1"}`, 422, "input-invalid", []string{"/items"}},
	} {
		t.Run(name, func(t *testing.T) {
			problem := c.post(t, "/v1/orders", "free", test.body).refused(t, test.status, test.code)
			if got := pointers(problem); !slices.Equal(got, test.pointers) {
				t.Errorf("pointers %q, want %q", got, test.pointers)
			}
		})
	}
	if n := query[int](t, s.pool, "SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM order_lines) + (SELECT count(*) FROM idem.keys)"); n != 0 {
		t.Errorf("%d rows of refused orders", n)
	}
	if got := c.post(t, "/v1/orders", "free", orderBody(pen)); got.status != 201 || got.replayed() {
		t.Errorf("the key is not free: %d %s", got.status, got.body)
	}
}

// What only the database knows is recorded like any client error, and leaves no
// row of the order.
func TestPlaceOrderRefusedByTheDatabase(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	for code, test := range map[string]struct {
		line   string
		status int
	}{
		"already-exists": {pen, 409},
		"invalid-value":  {`{"sku": "A", "qty": 1, "price": "12345678901.00"}`, 422},
	} {
		body := orderBody(pen, test.line)
		first := c.post(t, "/v1/orders", code, body)
		first.refused(t, test.status, code)
		if again := c.post(t, "/v1/orders", code, body); !again.replayed() || again.body != first.body {
			t.Errorf("%s again: %d %s", code, again.status, again.body)
		}
	}
	if n := query[int](t, s.pool, "SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM order_lines)"); n != 0 {
		t.Errorf("%d rows of refused orders", n)
	}
}
