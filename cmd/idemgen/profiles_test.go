package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

var update = flag.Bool("update", false, "rewrite the reports in docs/conformance.md")

// TestExampleServiceInEveryProfile generates the example service in each profile,
// and runs its conformance test there. What that says stands in
// docs/conformance.md.
func TestExampleServiceInEveryProfile(t *testing.T) {
	idemtest.Standalone(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"ietf", "stripe", "gateway"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel() // most of the time copies of requests wait until they give up
			if testing.Short() && profile != "ietf" {
				t.Skip("runs sqlc, the Go command and the conformance kit")
			}
			dir := exampleIn(t, root, profile)
			goIn(t, root, "run", "./cmd/idemgen", "-C", dir, "generate")
			goIn(t, dir, "test", "./internal/api", "-run", "^TestConformance$", "-count=1")
			report, err := os.ReadFile(filepath.Join(dir, "internal", "api", "report.md"))
			if err != nil {
				t.Fatal(err)
			}
			wantInDocs(t, filepath.Join(root, "docs", "conformance.md"), profile, string(report))
		})
	}
}

// exampleIn is a copy of the example service that has a profile.
func exampleIn(t *testing.T, root, profile string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "example-service"))); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "idemgen.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "\nprofile: ietf\n", "\nprofile: "+profile+"\n", 1)
	if profile != "ietf" && changed == string(text) {
		t.Fatal("idemgen.yaml of the example service has no line profile: ietf")
	}
	if err := os.WriteFile(config, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "internal", "api", "report_test.go"), []byte(reporter), 0o644); err != nil {
		t.Fatal(err)
	}
	goIn(t, dir, "mod", "edit", "-replace", "github.com/idemgen/idemgen="+root)
	return dir
}

// reporter is a hook that a user could write.
const reporter = `package api

import (
	"os"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func init() {
	conformanceKit = func(t testing.TB, kit *idemtest.Kit) {
		file, err := os.Create("report.md")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		kit.Report = file
	}
}
`

// goIn runs the Go command in a folder, apart from this repository's workspace.
func goIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// wantInDocs compares a report with the one between two marks of a page.
func wantInDocs(t *testing.T, page, profile, report string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- report: "+profile+" -->\n", "<!-- end of report -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	written, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no lines %q and %q", page, begin, end)
	case written == report:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+report+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another report of profile %s (go test ./cmd/idemgen -run Profile -update writes it):\n%s", page, profile, report)
	}
}
