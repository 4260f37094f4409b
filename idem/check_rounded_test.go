package idem

import "testing"

func TestCase_rules_9_DecimalRound(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale int
		want  string
	}{
		{"0.004", 2, "0"}, {"0.005", 2, "0.01"}, {"-0.005", 2, "-0.01"}, {"0.0049999", 2, "0"}, {"9.995", 2, "10"}, {"99.5", 0, "100"},
		{"0.5", 0, "1"}, {"-0.5", 0, "-1"}, {"0.49", 0, "0"}, {"1.25", 5, "1.25"}, {"0.0001", 2, "0"}, {"150", -2, "200"}, {"149", -2, "100"},
		{"49", -2, "0"}, {"50", -2, "100"}, {"0", 2, "0"}, {"1234.5678", 2, "1234.57"}, {"1e3", 2, "1000"},
	} {
		d, ok, fits := parseDecimal(c.text)
		if !ok || !fits {
			t.Fatal(c.text)
		}
		if got := d.round(c.scale).text(); got != c.want {
			t.Errorf("round(%s, %d) = %s, want %s", c.text, c.scale, got, c.want)
		}
	}
}

// TestCase_rules_9_RulesSeeWhatIsStored: CHECK (price > 0) on numeric(12,2)
// refuses 0.004 and takes 0.005.
func TestCase_rules_9_RulesSeeWhatIsStored(t *testing.T) {
	field := func(rounded bool) Field {
		return Field{Kind: KindNumeric, Checks: []Check{
			{Op: CheckExclusiveMin, Value: "0", Rounded: rounded, Scale: 2},
			{Op: CheckMax, Value: "99.99", Rounded: rounded, Scale: 2},
		}}
	}
	for text, want := range map[string][2]bool{ // rounded, as it is
		"0.004": {false, true}, "0.005": {true, true}, "0.01": {true, true}, "99.994": {true, false}, "99.995": {false, false},
	} {
		for i, rounded := range []bool{true, false} {
			rules, err := compileRules(field(rounded))
			if err != nil {
				t.Fatal(err)
			}
			ok := true
			for _, r := range rules {
				ok = ok && r.breaks(text) == nil
			}
			if ok != want[i] {
				t.Errorf("%s, rounded %v: %v", text, rounded, ok)
			}
		}
	}
}
