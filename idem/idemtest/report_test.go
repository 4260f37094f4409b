package idemtest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func exampleReport() *report {
	r := &report{}
	_ = r.add("Pay", "mismatch", &notes{lines: []string{"for want of another value (Input.Other) without body.kind"}}, nil)
	_ = r.add("Pay", "expiry", &notes{}, nil)
	_ = r.add("Pay", "business intent", &notes{}, moot("it has no intent"))
	_ = r.add("Refund", "business intent", &notes{}, moot("it has no intent"))
	_ = r.add("Refund", "expiry", &notes{}, errors.New("an expired record\nis replayed"))
	_ = r.add("Move", exampleCheck, nil, skip("it answers 404"))
	_ = r.add("", sweepCheck, nil, nil)
	return r
}

// A report says of everything whether it was checked.
func TestReport(t *testing.T) {
	const text = `Pay                   mismatch                      passed: for want of another value (Input.Other) without body.kind
Pay                   expiry                        passed
Pay                   business intent               does not apply: it has no intent
Refund                business intent               does not apply: it has no intent
Refund                expiry                        failed: an expired record is replayed
Move                  example                       not checked: it answers 404
(service)             sweep                         passed
`
	const table = `| promise | Pay | Refund | Move | (service) |
|---|:-:|:-:|:-:|:-:|
| mismatch | ✓ 1 |  |  |  |
| expiry | ✓ | **✗** 2 |  |  |
| business intent | – 3 | – 3 |  |  |
| example |  |  | ? 4 |  |
| sweep |  |  |  | ✓ |

1. for want of another value (Input.Other) without body.kind
2. an expired record is replayed
3. it has no intent
4. it answers 404
`
	r := exampleReport()
	if got := r.text(); got != text {
		t.Errorf("the text is\n%s", got)
	}
	if got := r.markdown(); got != table {
		t.Errorf("the table is\n%s", got)
	}
	if got := strings.Join(r.skippedWhole(), ","); got != "Move" {
		t.Errorf("skipped as a whole: %s", got)
	}
	var out strings.Builder
	r.findings = r.findings[:5] // the others would be told to who runs this test
	r.publish(t, &out)
	if out.String() != r.markdown() {
		t.Errorf("what is written is\n%s", out.String())
	}
}

// Who writes fixtures wants every operation checked; who has not come so far is
// not stopped by it.
func TestSkippedOperationsFailOnceThereAreFixtures(t *testing.T) {
	fixtures := func(testing.TB, *Fixture) {}
	for _, c := range []struct {
		name    string
		kit     Kit
		err     error
		skipped bool
	}{
		{"no fixtures", Kit{}, skip("404"), true},
		{"fixtures", Kit{Fixtures: fixtures}, skip("404"), false},
		{"allowed", Kit{Fixtures: fixtures, AllowSkipped: []string{"Pay"}}, skip("404"), true},
		{"another one is allowed", Kit{Fixtures: fixtures, AllowSkipped: []string{"Refund"}}, skip("404"), false},
		{"failed", Kit{}, errors.New("500"), false},
	} {
		got := c.kit.excused(&Operation{Name: "Pay"}, c.err)
		if errors.As(got, new(skip)) != c.skipped || got == nil {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A name in AllowSkipped that hides nothing is a fault: misspelt, or no longer
// needed. Of what -run leaves out nothing is known.
func TestNeedlesslyAllowedNamesFail(t *testing.T) {
	kit := Kit{Operations: []Operation{{Name: "Pay"}, {Name: "Move"}, {Name: "Refund"}, {Name: "Read"}, {Name: "Left"}}}
	r := exampleReport()
	_ = r.add("Read", unkeyedCheck, nil, skip("it answers 404"))
	r.findings = slices.DeleteFunc(r.findings, func(f finding) bool { return f.operation == "Refund" && f.result != failed })
	for name, want := range map[string]string{
		"Pai":    `Kit.AllowSkipped names "Pai", but there is no such operation`,
		"Pay":    "Kit.AllowSkipped names Pay, but it was checked: remove it there",
		"Move":   "", // skipped as a whole
		"Read":   "",
		"Refund": "", // failed
		"Left":   "",
	} {
		kit.AllowSkipped = []string{name}
		if err := errors.Join(kit.needlesslyAllowed(r)...); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if got := strings.Join(r.skippedWhole(), ","); got != "Move,Read" {
		t.Errorf("skipped as a whole: %s", got)
	}
}

// Every promise is explained to users.
func TestPromisesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	promises := []string{exampleCheck, sweepCheck, connectionsCheck}
	for _, c := range slices.Concat(checks, unkeyed) {
		promises = append(promises, c.name)
	}
	_, table, _ := strings.Cut(string(page), "\n## What is checked\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, promise := range promises {
		if !strings.Contains(table, "\n| "+promise+" | ") {
			t.Errorf("docs/conformance.md does not explain %q", promise)
		}
	}
	if rows := strings.Count(table, "\n| ") - 1; rows != len(promises) {
		t.Errorf("docs/conformance.md explains %d promises, there are %d", rows, len(promises))
	}
}

func TestUnknownProfile(t *testing.T) {
	if by, err := protocolOf("", false); err != nil || by.keyHeader != "Idempotency-Key" || !by.coded {
		t.Errorf("the default is %+v, %v", by, err)
	}
	if _, err := protocolOf("IETF", false); err == nil || !strings.Contains(err.Error(), "ietf, stripe or gateway") {
		t.Errorf("an unknown profile: %v", err)
	}
}
