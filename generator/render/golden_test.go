package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// chi is imported by emitted code, not by this module: the goldens are built in
// a module graph that adds it.
const chi = "github.com/go-chi/chi/v5 v5.5.0"

const chiSums = chi + " h1:xdKQ1dJmVJsmgahrXSKhUx8NyVPzpwdlyrrQFpMPJgg=\n" +
	chi + "/go.mod h1:d1IG7GtKPSjPyBP365PH8sAGVHk3qfB/IhjFNRH1wWM=\n"

// TestGoldensRun compiles the golden packages, vets them, and runs the tests in
// testdata/run over them.
func TestGoldensRun(t *testing.T) {
	modfile := graphWithChi(t)
	goCommand(t, "vet", "-modfile="+modfile,
		"./testdata/golden/payments", "./testdata/golden/names", "./testdata/golden/open", "./testdata/golden/rides",
		"./testdata/golden/hooks", "./testdata/golden/paymentsclient", "./testdata/golden/namesclient", "./testdata/golden/kindsclient")
	goCommand(t, "test", "-modfile="+modfile, "./testdata/run")
}

// graphWithChi writes this module's go.mod, with chi, to a temporary folder.
func graphWithChi(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, extra := range map[string]string{"go.mod": "\nrequire " + chi + "\n", "go.sum": chiSums} {
		content, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), chi) {
			extra = "" // the module has it by now
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(content, extra...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "go.mod")
}

func goCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
