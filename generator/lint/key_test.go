package lint

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

func bound(op model.CheckOp, value string) model.Check { return model.Check{Op: op, Value: value} }

// TestKeysOfFewValues: what is told of a type of few values, and that types of
// many pass.
func TestKeysOfFewValues(t *testing.T) {
	for _, c := range []struct {
		name string
		t    model.Type
		want string
	}{
		{"boolean", model.Type{Kind: model.KindBool}, "a boolean"},
		{"enum", model.Type{Kind: model.KindText, Enum: []string{"a", "b"}}, "one of 2 words"},
		{"date", model.Type{Kind: model.KindDate}, "a day"},
		{"smallint", model.Type{Kind: model.KindInt2}, "a smallint"},
		{"short text", model.Type{Kind: model.KindText, Length: 3}, "at most 3 characters"},
		{"text short by a check", model.Type{Kind: model.KindText, Length: 64, Checks: []model.Check{bound(model.CheckMaxLength, "5")}}, "at most 5 characters"},
		{"list", model.Type{Kind: model.KindText, Checks: []model.Check{{Op: model.CheckIn, Values: []string{"x"}}}}, "one of 1 values"},
		{"narrow number", model.Type{Kind: model.KindInt8, Checks: []model.Check{bound(model.CheckMin, "1"), bound(model.CheckMax, "100")}}, "100 possible values"},
		{"wide number", model.Type{Kind: model.KindInt8, Checks: []model.Check{bound(model.CheckMin, "1"), bound(model.CheckMax, "1000000")}}, ""},
		{"number without an end", model.Type{Kind: model.KindInt8, Checks: []model.Check{bound(model.CheckMin, "1")}}, ""},
		{"text", model.Type{Kind: model.KindText, Length: 64}, ""},
		{"uuid", model.Type{Kind: model.KindUUID}, ""},
	} {
		if got := few(c.t); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	long := model.Type{Kind: model.KindText, Checks: []model.Check{bound(model.CheckMinLength, "22")}}
	if got := guessable(long); got != "" {
		t.Errorf("a text of 22 characters: %s", got)
	}
	for _, k := range []model.Kind{model.KindText, model.KindInt8} {
		if guessable(model.Type{Kind: k}) == "" {
			t.Errorf("%s can be guessed where there is no scope", k)
		}
	}
}
