package render

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

func TestCase_rules_9_ChecksSayHowTheyRound(t *testing.T) {
	got := checks([]model.Check{
		{Op: model.CheckMin, Value: "1"},
		{Op: model.CheckMax, Value: "9", Rounded: true, Scale: 2},
		{Op: model.CheckMax, Value: "8", Rounded: true},
	}, nil)
	for text, want := range map[string]int{"Rounded:": 2, "Rounded: true": 2, "Scale:": 1, "Scale: 2": 1} {
		if n := strings.Count(strings.ReplaceAll(got, "\n", ""), text); n != want {
			t.Errorf("%s stands %d times, want %d, in %s", text, n, want, got)
		}
	}
}
