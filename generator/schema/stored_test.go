package schema

import (
	"fmt"
	"testing"
)

func TestCase_rules_9_AsStored(t *testing.T) {
	cat := mustBuild(t, `CREATE DOMAIN cents AS numeric(10,2) CHECK (VALUE >= 0.01);
CREATE TABLE t (
  price numeric(12,2) CHECK (price > 0), whole numeric(5) CHECK (whole > 0), any_scale numeric CHECK (any_scale > 0),
  fee cents, ratio real CHECK (ratio >= 0.1), few real CHECK (few <= 5), huge real CHECK (huge < 20000000), wide double precision CHECK (wide < 20000000));`)
	table := mustTable(t, cat, "t")
	got := map[string]string{}
	for _, c := range table.Checks {
		for column, rules := range c.Rules {
			for _, r := range rules {
				got[column] += fmt.Sprintf("%s %s %v %d;", r.Op, r.Value, r.Rounded, r.Scale)
			}
		}
	}
	for _, r := range table.Column("fee").Type.Checks {
		got["fee"] += fmt.Sprintf("%s %s %v %d;", r.Op, r.Value, r.Rounded, r.Scale)
	}
	want := map[string]string{
		"price": "exclusive_min 0 true 2;", "whole": "exclusive_min 0 true 0;", "any_scale": "exclusive_min 0 false 0;",
		"fee": "min 0.01 true 2;", "few": "max 5 false 0;", "wide": "exclusive_max 20000000 false 0;",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
