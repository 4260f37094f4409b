package render

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
)

// The emitted tests stand apart from the packages that they test: those are
// compiled and run over a database that has no such tables.
func TestConformance(t *testing.T) {
	var got []files.File
	for _, c := range emitCases() {
		out, err := Conformance("internal/"+c.name, "db/migrations", c.svc, c.ops)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out {
			wantGofmt(t, f)
			f.Path = filepath.Base(filepath.Dir(f.Path)) + "_test.go.golden"
			got = append(got, f)
		}
	}
	compareFolder(t, filepath.Join("testdata", "golden", "conformance"), got)
}

func TestConformanceOfReadsOnlyIsNothing(t *testing.T) {
	op := listPayments()
	got, err := Conformance("api", "db", service(op.Model), emitCases()[0].ops[3:4])
	if err != nil || len(got) != 0 {
		t.Errorf("%d files, %v", len(got), err)
	}
}

func TestSamplesHoldTheirChecks(t *testing.T) {
	text := func(checks ...model.Check) model.Type { return model.Type{Kind: model.KindText, Checks: checks} }
	whole := func(checks ...model.Check) model.Type { return model.Type{Kind: model.KindInt4, Checks: checks} }
	cases := []struct {
		name        string
		typ         model.Type
		first, then string // as JSON, "" for none
	}{
		{"text", text(), `"example"`, `"other example"`},
		{"short text", model.Type{Kind: model.KindText, Length: 3}, `"exa"`, `"oth"`},
		{"long text", text(model.Check{Op: model.CheckMinLength, Value: "9"}), `"exampleee"`, `"other example"`},
		{"pattern", text(model.Check{Op: model.CheckPattern, Value: `^[A-Z]{3}-\d+$`}), `"AAA-0"`, `"BBB-1"`},
		{"a pattern that can't be met by hand", text(model.Check{Op: model.CheckPattern, Value: `^a\bb$`}), "", ""},
		{"enum", model.Type{Kind: model.KindText, Enum: []string{"one"}}, `"one"`, ""},
		{"one of", text(model.Check{Op: model.CheckIn, Values: []string{"a", "b"}}), `"a"`, `"b"`},
		{"whole", whole(), "1", "2"},
		{"from", whole(model.Check{Op: model.CheckExclusiveMin, Value: "10"}), "11", "12"},
		{"below", whole(model.Check{Op: model.CheckExclusiveMax, Value: "0"}), "-10", "-9"},
		{"but not", whole(model.Check{Op: model.CheckNotEqual, Value: "1"}), "2", "3"},
		{"array", array(bigint), "[1]", "[2]"},
		{"uuid", uuid, `"00000000-0000-4000-8000-000000000001"`, `"00000000-0000-4000-8000-000000000002"`},
		{"list", model.Type{Kind: model.KindRecord, List: true, Members: []model.Member{
			{Name: "sku", Type: text(), Required: true}, {Name: "kind", Type: model.Type{Kind: model.KindText, Enum: []string{"x"}}, Required: true},
		}}, `[{"kind":"x","sku":"example"}]`, `[{"kind":"x","sku":"other example"}]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for turn, want := range []string{c.first, c.then} {
				value, ok := sample(c.typ, turn)
				if got := encoded(value); ok != (want != "") || ok && got != want {
					t.Errorf("turn %d: %s, %t, want %s", turn, got, ok, want)
				}
			}
		})
	}
}

// Every value that is sent as another one is another one.
func TestOtherValuesDiffer(t *testing.T) {
	for _, c := range emitCases() {
		for _, op := range c.ops {
			example := exampleBody(op.Model)
			for _, in := range op.Model.Inputs {
				other := otherValue(op.Model, in, example)
				if in.From == model.FromBody && other != "" && other == encoded(memberOf(example, in.Name)) {
					t.Errorf("%s: %s is %s again", op.Model.Name, in.Name, other)
				}
				if in.From == model.FromBody && other != "" && !json.Valid([]byte(other)) {
					t.Errorf("%s: %s: %s is not JSON", op.Model.Name, in.Name, other)
				}
			}
		}
	}
}

// The names that a user's own test files set are part of the contract.
func TestConformanceHooks(t *testing.T) {
	out, err := Conformance("api", "db/migrations", emitCases()[0].svc, emitCases()[0].ops)
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{`var conformanceFixtures func\(t testing.TB, f \*idemtest.Fixture\)`, `var conformanceKit func\(t testing.TB, kit \*idemtest.Kit\)`} {
		if !regexp.MustCompile(hook).Match(out[0].Content) {
			t.Errorf("%s is not there", hook)
		}
	}
	if !strings.Contains(string(out[0].Content), `idemtest.Migrated(t, "../db/migrations")`) {
		t.Error("the migrations are not found from the package's folder")
	}
}

// What an operation promises beside the rest is told to the kit, or it would not
// be checked.
func TestConformanceTellsEachPolicy(t *testing.T) {
	op := func(change func(*model.Operation)) *model.Operation {
		o := &model.Operation{Name: "Pay", Method: "POST", Path: "/v1/payments", Key: model.Key{From: "header", Required: true}}
		o.Policy = model.Policy{Success: time.Hour, ClientError: time.Minute, Wait: time.Second, Timeout: 10 * time.Second, RecordBody: true}
		change(o)
		return o
	}
	intent := func(on string) []*model.Step {
		return []*model.Step{{Query: &model.Query{}, Intent: &model.Intent{}, OnIntent: on}}
	}
	cases := []struct {
		name   string
		change func(*model.Operation)
		has    string
	}{
		{"lifetimes", func(*model.Operation) {}, `Kept: idemtest.Kept{Success: time.Hour, ClientError: time.Minute}`},
		{"a client error is kept twice the timeout", func(o *model.Operation) { o.Policy.ClientError = 0 }, `ClientError: 20 * time.Second}`},
		{"server errors", func(o *model.Operation) { o.Policy.ServerError = 5 * time.Minute }, `ServerError: 5 * time.Minute}`},
		{"sealed", func(o *model.Operation) { o.Policy.Sealed = true }, `Sealed: true`},
		{"record=none", func(o *model.Operation) { o.Policy.RecordBody = false }, `Tombstone: true`},
		{"force", func(o *model.Operation) { o.Policy.ForceRetry = true }, `Forces: true`},
		{"reject", func(o *model.Operation) { o.Policy.Wait = 0 }, `Rejects: true`},
		{"return", func(o *model.Operation) { o.Steps = intent("return") }, `Returns: true`},
		{"intent", func(o *model.Operation) { o.Steps = intent("conflict") }, `Intent: true`},
		{"optional key", func(o *model.Operation) { o.Key.Required = false }, `Key: idemtest.KeyOptional`},
		{"key of other inputs", func(o *model.Operation) { o.Key.From = "source" }, `Key: idemtest.KeyDerived`},
		{"no key", func(o *model.Operation) { o.Key.From = "none" }, `Key: idemtest.KeyNone`},
	}
	plain := spaces(conformanceOperation(op(func(*model.Operation) {})))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := spaces(conformanceOperation(op(c.change)))
			if !strings.Contains(got, c.has) {
				t.Errorf("%s is not in %s", c.has, got)
			}
			if c.name != "lifetimes" && strings.Contains(plain, c.has) {
				t.Errorf("%s is told of every operation", c.has)
			}
		})
	}
}

// spaces makes one space of many.
func spaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// The test speaks the profile of the service, and seals where it does.
func TestConformanceTellsTheService(t *testing.T) {
	svc, ops := emitCases()[0].svc, emitCases()[0].ops[:1]
	svc.Profile = "gateway"
	emitted := func() string {
		out, err := Conformance("api", "db/migrations", svc, ops)
		if err != nil {
			t.Fatal(err)
		}
		return spaces(string(out[0].Content))
	}
	text := emitted()
	if !strings.Contains(text, `Profile: "gateway"`) || strings.Contains(text, "idemtest.Seal") {
		t.Errorf("the profile is not told, or the service seals:\n%s", text)
	}
	ops[0].Model.Policy.Sealed = true
	if text := emitted(); !strings.Contains(text, "Seal: idemtest.Seal(t)") {
		t.Errorf("the service does not seal:\n%s", text)
	}
}

// The value of an intent under a pattern is another one for each check.
func TestConformanceInputsUnderPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		`^[A-Z0-9]{8,20}$`: `Fresh: true, Shape: "[0-9A-Z]{8}"}`,
		`^[A-Z]{2}$`:       `Other: ` + "`\"BB\"`}",
	} {
		in := &model.Input{Name: "tracking_no", From: model.FromBody, Required: true,
			Type: model.Type{Kind: model.KindText, Checks: []model.Check{{Op: model.CheckPattern, Value: pattern}}}}
		step := &model.Step{Intent: &model.Intent{Columns: []string{"tracking_no"}}, Args: []model.Source{{Input: in}}}
		step.Query = &model.Query{Shape: model.Shape{Feeds: []model.Feed{{Param: 1, Column: "tracking_no", Assigned: true}}}}
		op := &model.Operation{Inputs: []*model.Input{in}, Steps: []*model.Step{step}}
		if got := spaces(conformanceInputs(op, exampleBody(op))[0]); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// What has to match a pattern can be fresh where there are enough such texts:
// every text of the shape holds the checks.
func TestShapesOfFreshTexts(t *testing.T) {
	pattern := func(p string, more ...model.Check) model.Type {
		return model.Type{Kind: model.KindText, Checks: append(more, model.Check{Op: model.CheckPattern, Value: p})}
	}
	cases := []struct {
		name  string
		typ   model.Type
		shape string
	}{
		{"no pattern", model.Type{Kind: model.KindText}, ""},
		{"class", pattern(`^[A-Z0-9]{8,20}$`), `[0-9A-Z]{8}`},
		{"literals", pattern(`^(DHL|UPS)-\d{4,}\.x$`), `DHL-[0-9]{4}\.x`},
		{"letters of one case", pattern(`^[a-fA-F0-9]{8}$`), `[0-9a-f]{8}`},
		{"as long as it must", pattern(`^[a-z]+$`, model.Check{Op: model.CheckMinLength, Value: "7"}), `[a-z]{7}`},
		{"as many as are needed", pattern(`^x*\d?[a-z]+$`), `x{2}[a-z]{3}`},
		{"anything", pattern(`(?s)^.{5}$`), `[0-9a-z]{5}`},
		{"no digits or letters", pattern(`^[-_]\d{5}$`), `-[0-9]{5}`},
		{"too long", model.Type{Kind: model.KindText, Length: 7, Checks: pattern(`^\d{8}$`).Checks}, ""},
		{"too few", pattern(`^[A-Z]{2}$`), ""},
		{"two patterns", pattern(`^[0-9]{6,8}$`, model.Check{Op: model.CheckPattern, Value: `^.{8}$`}), ""},
		{"a boundary of words", pattern(`\b\d{8}`), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := freshShape(c.typ); got != c.shape {
				t.Errorf("the shape is %q, want %q", got, c.shape)
			}
		})
	}
}
