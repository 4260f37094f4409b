package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/cli"
)

// TestIndexHasEveryPage: docs/README.md leads to all other pages.
func TestIndexHasEveryPage(t *testing.T) {
	index := readPage(t, "README.md").prose
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".md" && f.Name() != "README.md" && !strings.Contains(index, "]("+f.Name()+")") {
			t.Errorf("docs/README.md does not lead to %s", f.Name())
		}
	}
}

// commandLine finds what stands behind the program's name, up to what is the shell's.
var commandLine = regexp.MustCompile(`(?m)^(?:\w+=\S+ )*(?:go tool |go run \./cmd/)?idemgen ([^#|)\n]+)`)

// TestCommandLinesExist gives every command line of every page to the real command,
// with --help behind it: a command or a flag that is not there is an error all the same.
func TestCommandLinesExist(t *testing.T) {
	found := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.info != "sh" && b.info != "" {
				continue
			}
			for _, m := range commandLine.FindAllStringSubmatch(b.text, -1) {
				found++
				if said := helpOf(t, strings.Fields(m[1])); said != "" {
					t.Errorf("%s: idemgen %s: %s", p.path, m[1], said)
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d command lines", found)
	}
}

// helpOf is what is wrong with a command line, "" for nothing.
func helpOf(t *testing.T, args []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), cli.Env{Args: append(args, "--help"), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	usage := "\nUsage:\n  idemgen " + args[0]
	if code != 0 || !strings.Contains(out.String()+errs.String(), usage) {
		return strings.TrimSpace("exit code or usage: " + errs.String())
	}
	return ""
}
