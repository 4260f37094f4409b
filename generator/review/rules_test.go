package review

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// example is the review of the example service, as it was committed.
func example(t testing.TB) *Document {
	t.Helper()
	text, err := os.ReadFile("../../example-service/internal/api/" + JSONFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	doc.Migrations = []Migration{{File: "db/migrations/00001_a.sql", Text: "a", Goose: true}, {File: "schema.sql", Text: "dump"}}
	return doc
}

// rulesOf are the rules of the findings, each once, sorted.
func rulesOf(r *Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, f.Rule)
	}
	return sorted(out)
}

// mutation is a change of the example service, and what it must lead to.
type mutation struct {
	op     string // the operation that change gets; "" for none
	change func(d *Document, op *Operation)
	want   string // rules, separated by spaces
}

var mutations = map[string]mutation{
	"a new operation": {"", func(d *Document, _ *Operation) {
		d.Operations = append(d.Operations, &Operation{Name: "New", Method: "POST", Path: "/new", Key: Key{From: "none"}})
	}, "operation-added"},
	"an operation is gone": {"", func(d *Document, _ *Operation) { d.Operations = d.Operations[1:] }, "operation-removed"},
	"another name, the same route": {"CreatePayment", func(_ *Document, op *Operation) {
		op.Name, op.Stored = "MakePayment", "payments.MakePayment"
	}, "operation-renamed"},
	"a read is renamed":      {"GetPayment", func(_ *Document, op *Operation) { op.Name = "ReadPayment" }, ""},
	"the service is renamed": {"", func(d *Document, _ *Operation) { d.Service = "pay" }, "service-renamed"},
	"another scope":          {"", func(d *Document, _ *Operation) { d.Scope = "caller.user_id" }, "scope-changed"},
	"another profile":        {"", func(d *Document, _ *Operation) { d.Profile = "stripe" }, "profile-changed"},
	"a setting":              {"", func(d *Document, _ *Operation) { d.Session = []string{"app.tenant = caller.tenant_id"} }, "session-changed"},
	"another JSON style":     {"", func(d *Document, _ *Operation) { d.JSON = "camel" }, "json-changed"},
	"required to optional":   {"CreatePayment", func(_ *Document, op *Operation) { op.Key.Required = false }, "key-weakened"},
	"required to none":       {"CapturePayment", func(_ *Document, op *Operation) { op.Key = Key{From: "none"} }, "key-weakened"},
	"optional to none":       {"PutCustomer", func(_ *Document, op *Operation) { op.Key = Key{From: "none"} }, "key-weakened"},
	"optional to intent":     {"PutCustomer", func(_ *Document, op *Operation) { op.Key = Key{From: "intent"} }, "key-changed"},
	"optional to required":   {"PutCustomer", func(_ *Document, op *Operation) { op.Key.Required = true }, "key-required"},
	"another key":            {"CreatePayment", func(_ *Document, op *Operation) { op.Key = Key{From: "source", Source: "body.order_id"} }, "key-changed"},
	"another prefix":         {"CreatePayment", func(_ *Document, op *Operation) { op.Key.Prefix = "v2-" }, "key-changed"},
	"no intent":              {"CreatePayment", func(_ *Document, op *Operation) { op.Intents = nil }, "intent-dropped"},
	"another intent":         {"CreatePayment", func(_ *Document, op *Operation) { op.Intents[0].Columns = []string{"order_id"} }, "intent-changed"},
	"the intent's condition": {"CreatePayment", func(_ *Document, op *Operation) { op.Intents[0].Where = "amount > 5" }, "intent-changed"},
	"the intent's columns":   {"CreatePayment", func(_ *Document, op *Operation) { slices.Reverse(op.Intents[0].Columns) }, ""},
	"what an intent answers": {"CreatePayment", func(_ *Document, op *Operation) { op.Intents[0].On = "return" }, "answer-changed"},
	"a new intent": {"CreateAccount", func(_ *Document, op *Operation) {
		op.Intents = []Intent{{Table: "accounts", Columns: []string{"owner"}}}
	}, "intent-added"},
	"no fingerprint":          {"CreatePayment", func(_ *Document, op *Operation) { op.Fingerprint = Fingerprint{Mode: "none"} }, "fingerprint-changed"},
	"a part of fingerprint":   {"CreatePayment", func(_ *Document, op *Operation) { op.Fingerprint = Fingerprint{"some", []string{"body.amount"}} }, "fingerprint-changed"},
	"all of the fingerprint":  {"CreatePayment", func(_ *Document, op *Operation) { op.Fingerprint.Mode = "some" }, ""},
	"an optional input":       {"CreatePayment", func(_ *Document, op *Operation) { add(op, Input{Name: "body.memo", Type: "text"}) }, ""},
	"a required input":        {"CreatePayment", func(_ *Document, op *Operation) { add(op, Input{Name: "body.memo", Type: "text", Required: true}) }, "fingerprint-changed input-required"},
	"an input with a default": {"CreatePayment", func(_ *Document, op *Operation) { add(op, Input{Name: "body.memo", Type: "text", Default: "x"}) }, "fingerprint-changed"},
	"an input is gone": {"CreatePayment", func(_ *Document, op *Operation) {
		op.Inputs = op.Inputs[1:]
		op.Fingerprint.Members = op.Fingerprint.Members[1:]
	}, "fingerprint-changed input-removed"},
	"optional to required input": {"CreateAccount", func(_ *Document, op *Operation) { op.Inputs[0].Required = true }, "input-required"},
	"another type":               {"CreatePayment", func(_ *Document, op *Operation) { op.Inputs[0].Type = "integer" }, "input-type"},
	"a stricter check":           {"CreatePayment", func(_ *Document, op *Operation) { op.Inputs[0].Checks = []string{"> 0", "<= 100"} }, "input-stricter"},
	"a looser check":             {"CreatePayment", func(_ *Document, op *Operation) { op.Inputs[0].Checks = nil }, ""},
	"null is no value":           {"CreatePayment", func(_ *Document, op *Operation) { op.Inputs[2].Nullable = false }, "input-stricter"},
	"a lock": {"CreatePayment", func(_ *Document, op *Operation) {
		op.Locks = append([]Lock{{Kind: lockRows, Object: "accounts", Mode: "FOR UPDATE"}}, op.Locks...)
	}, "lock-added"},
	"a stronger lock":        {"CapturePayment", func(_ *Document, op *Operation) { op.Locks[0].Mode = "FOR UPDATE" }, "lock-added"},
	"another order of locks": {"CreateTransfer", func(_ *Document, op *Operation) { slices.Reverse(op.Locks) }, "lock-order"},
	"no order of rows":       {"CreateTransfer", func(_ *Document, op *Operation) { op.Locks[1].Rows = "in no set order, where there are several" }, "lock-order"},
	"a round trip":           {"CreateTransfer", func(_ *Document, op *Operation) { op.RoundTrips++ }, "lock-longer round-trips"},
	"a round trip less":      {"CreateTransfer", func(_ *Document, op *Operation) { op.RoundTrips-- }, ""},
	"a Go function": {"CreateTransfer", func(_ *Document, op *Operation) {
		op.Steps = append(op.Steps, Step{Name: "Check", Function: "Check"})
	}, "lock-longer"},
	"verbatim":              {"CreatePayment", func(_ *Document, op *Operation) { op.Strategy = "verbatim" }, "strategy-slower"},
	"stepped":               {"CreatePayment", func(_ *Document, op *Operation) { op.Strategy, op.RoundTrips = "stepped", 3 }, "lock-longer strategy-slower"},
	"a faster strategy":     {"PlaceOrder", func(_ *Document, op *Operation) { op.Strategy = "fused" }, ""},
	"shorter":               {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Success = "1h" }, "ttl-shorter"},
	"shorter errors":        {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.ClientError = "90m" }, "ttl-shorter"},
	"longer":                {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Success = "720h" }, "ttl-longer"},
	"errors are recorded":   {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.ServerError = "5m" }, "errors-recorded"},
	"no body in the record": {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Record = "none" }, "record-changed"},
	"another timeout":       {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Timeout = "5s" }, "timeout-changed"},
	"reject":                {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Wait = "0s" }, "wait-changed"},
	"serializable":          {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.Isolation = "serializable" }, "isolation-changed"},
	"a smaller body":        {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.MaxBody = 10 }, "body-limit-lower"},
	"force retry":           {"CreatePayment", func(_ *Document, op *Operation) { op.Policy.ForceRetry = true }, "force-retry"},
	"another route":         {"CreatePayment", func(_ *Document, op *Operation) { op.Path = "/v2/payments" }, "route-changed"},
	"another status":        {"CreatePayment", func(_ *Document, op *Operation) { op.Status = 202 }, "status-changed"},
	"an answer is gone":     {"CapturePayment", func(_ *Document, op *Operation) { op.Answers = slices.Delete(op.Answers, 1, 2) }, "answer-removed"},
	"another status of it":  {"CapturePayment", func(_ *Document, op *Operation) { op.Answers[1].Status = 404 }, "answer-changed"},
	"another code":          {"CapturePayment", func(_ *Document, op *Operation) { op.Answers[1].Code = "gone" }, "answer-changed"},
	"another title":         {"CapturePayment", func(_ *Document, op *Operation) { op.Answers[1].Title = "Gone" }, ""},
	"a function's answer":   {"RefundPayment", func(_ *Document, op *Operation) { op.Answers[2].Code = "other" }, "answer-added answer-removed"},
	"an answer more": {"CapturePayment", func(_ *Document, op *Operation) {
		op.Answers = append(op.Answers, Answer{Status: 402, Code: "poor", From: "x is not true"})
	}, "answer-added"},
	"a member is gone":     {"CreatePayment", func(_ *Document, op *Operation) { op.Response = op.Response[1:] }, "member-removed"},
	"a member's type":      {"CreatePayment", func(_ *Document, op *Operation) { op.Response[0].Type = "text" }, "member-type"},
	"a member more":        {"CreatePayment", func(_ *Document, op *Operation) { op.Response = append(op.Response, Member{"x", "text"}) }, ""},
	"a header is gone":     {"CreatePayment", func(_ *Document, op *Operation) { op.Headers = nil }, "header-removed"},
	"a constraint is gone": {"", func(d *Document, _ *Operation) { d.Tables[0].Constraints = d.Tables[0].Constraints[1:] }, "constraint-removed"},
	"a constraint more": {"", func(d *Document, _ *Operation) {
		d.Tables[0].Constraints = append(d.Tables[0].Constraints, "c: CHECK (true)")
	}, "constraint-added"},
	"an index":             {"", func(d *Document, _ *Operation) { build(d, Index{Name: "i", Table: "payments"}) }, "index-blocks"},
	"an index of a schema": {"", func(d *Document, _ *Operation) { build(d, Index{Name: "i", Table: "public.payments", Unique: true}) }, "index-blocks"},
	"a constraint's index": {"", func(d *Document, _ *Operation) { build(d, Index{Name: "i", Table: "payments", Constraint: true}) }, "index-blocks"},
	"a concurrent index":   {"", func(d *Document, _ *Operation) { build(d, Index{Name: "i", Table: "payments", Concurrently: true}) }, "index-concurrent"},
	"an index of a new table": {"", func(d *Document, _ *Operation) {
		build(d, Index{Name: "i", Table: "fresh"})
		d.Migrations[len(d.Migrations)-1].Creates = []string{"public.fresh"}
	}, ""},
	"a migration is moved": {"", func(d *Document, _ *Operation) {
		for i := range d.Migrations {
			d.Migrations[i].File = "elsewhere/" + base(d.Migrations[i].File)
		}
	}, ""},
	"a migration is renamed": {"", func(d *Document, _ *Operation) { d.Migrations[0].File = "db/migrations/00007_a.sql" }, ""},
	"a migration is edited":  {"", func(d *Document, _ *Operation) { d.Migrations[0].Text = "b" }, "migration-edited"},
	"a dump is another one":  {"", func(d *Document, _ *Operation) { d.Migrations[1].Text = "b" }, ""},
	"its index and its constraint": {"", func(d *Document, _ *Operation) {
		build(d, Index{Name: "u", Table: "accounts", Concurrently: true, Unique: true})
		d.Tables[0].Constraints = append(d.Tables[0].Constraints, "u: UNIQUE (owner)")
	}, "index-concurrent"},
}

func add(op *Operation, in Input) {
	op.Inputs = append(op.Inputs, in)
	op.Fingerprint.Members = append(op.Fingerprint.Members, in.Name)
}

func build(d *Document, ix Index) {
	d.Migrations = append(d.Migrations, Migration{File: "db/migrations/99999_new.sql", Text: "new", Indexes: []Index{ix}})
}

// TestEveryRiskIsSeen changes the example service in one place each, and wants
// the finding of that change, and no other.
func TestEveryRiskIsSeen(t *testing.T) {
	seen := map[string]bool{"unknown-refused": true} // below: it needs another base
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			was, now := example(t), example(t)
			m.change(now, now.find(m.op))
			report := Compare(was, now)
			if got := strings.Join(rulesOf(report), " "); got != m.want {
				t.Errorf("got %q, want %q: %+v", got, m.want, report.Findings)
			}
			for _, f := range report.Findings {
				seen[f.Rule] = true
				if f.Message == "" || f.Means == "" || f.Way == "" || strings.Contains(f.Message, "%!") || f.Operation != m.op && m.op != "" && f.Operation != "MakePayment" {
					t.Errorf("not a whole finding: %+v", f)
				}
				if (f.Severity == Risk) != (ruleOf(f.Rule).Severity == Risk) || f.Severity == Risk && !report.Risky() {
					t.Errorf("severity of %s", f.Rule)
				}
			}
		})
	}
	for _, r := range outsideRules { // TestEveryRiskAboutOtherSystemsIsSeen
		seen[r.ID] = true
	}
	for _, r := range Rules() {
		if !seen[r.ID] {
			t.Errorf("no mutation leads to %s", r.ID)
		}
	}
}

func TestRefusingUnknownMembersIsSeen(t *testing.T) {
	was, now := example(t), example(t)
	was.UnknownFields = "ignored"
	if got := rulesOf(Compare(was, now)); !slices.Equal(got, []string{"unknown-refused"}) {
		t.Errorf("got %v", got)
	}
	if got := rulesOf(Compare(now, was)); len(got) > 0 {
		t.Errorf("ignoring them is no risk: %v", got)
	}
}

func TestNothingChanged(t *testing.T) {
	report := Compare(example(t), example(t))
	if len(report.Findings)+len(report.Changes) > 0 || report.Risky() || report.First {
		t.Errorf("%+v", report)
	}
	if want := fmt.Sprintf("payments: nothing risky; 0 operations of %d changed", len(example(t).Operations)); report.Title() != want {
		t.Errorf("title %q, want %q", report.Title(), want)
	}
}

// A key that is new has its locks: they are no risk of their own.
func TestANewKeyBringsItsLocks(t *testing.T) {
	was, now := example(t), example(t)
	op := was.find("CreatePayment")
	op.Key, op.Locks = Key{From: "none"}, op.Locks[:1]
	if got := rulesOf(Compare(was, now)); !slices.Equal(got, []string{"key-required"}) {
		t.Errorf("got %v", got)
	}
}

func TestFirstIntroductionHasNoRisk(t *testing.T) {
	report := Compare(nil, example(t))
	if !report.First || report.Risky() || len(report.Changes) != len(example(t).Operations) || !slices.Equal(rulesOf(report), []string{"operation-added"}) {
		t.Errorf("%v %+v", rulesOf(report), report.Changes)
	}
	if !strings.Contains(report.Since(), "there is no idemgen") {
		t.Error(report.Since())
	}
}

func TestParseRefusesWhatIsNoReview(t *testing.T) {
	for text, want := range map[string]string{
		"{":                               "can't be read",
		"[]":                              "can't be read",
		"{}":                              "no review",
		`{"version": 1}`:                  "no review",
		`{"version": 99, "service": "x"}`: "newer idemgen",
		"<<<<<<< HEAD\n{\n":               "can't be read",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestFieldsTellWhatChanged: one line for each thing that differs, whatever it is
// one of.
func TestFieldsTellWhatChanged(t *testing.T) {
	was, now := example(t), example(t)
	op := now.find("CreateTransfer")
	op.Writes = []string{"accounts", "ledger"}
	op.Policy.Timeout = "5s"
	op.Locks[1].Rows = "one"
	op.Inputs = op.Inputs[1:]
	op.Headers = nil
	report := Compare(was, now)
	if len(report.Changes) != 1 || report.Changes[0].Operation != "CreateTransfer" {
		t.Fatalf("%+v", report.Changes)
	}
	var got []string
	for _, f := range report.Changes[0].Fields {
		got = append(got, f.Name+": "+f.arrow())
	}
	want := []string{
		"Limits: 5s, body of 1 MiB (was 30s, body of 1 MiB)",
		"Response headers: gone: Location",
		"writes: gone: transfers",
		"writes: new: ledger",
		"lock: rows: accounts, FOR UPDATE, one (was rows: accounts, FOR UPDATE, in the order of id)",
		"input: gone: body.amount: bigint, required; > 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
