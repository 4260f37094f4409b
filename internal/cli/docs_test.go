package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the tables of flags in docs/cli.md")

// commands are all that a person can type, the whole tree.
func commands(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		if c.HasSubCommands() {
			out = append(out, commands(c)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

func tree() *cobra.Command {
	a := &app{env: Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}}
	return a.root()
}

// flagTable is what docs/cli.md says about flags.
func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		text := f.Usage
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0s" {
			text += " (default `" + f.DefValue + "`)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.ReplaceAll(text, "|", "\\|"))
	})
	return b.String()
}

// TestEveryCommandAndFlagIsDocumented holds docs/cli.md to cobra's tree: a
// section for each command and no other, and its flags as they are.
func TestEveryCommandAndFlagIsDocumented(t *testing.T) {
	const path = "../../docs/cli.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	root := tree()
	tables := map[string]string{"idemgen": flagTable(root.PersistentFlags())}
	var names []string
	for _, c := range commands(root) {
		names = append(names, c.CommandPath())
		if c.LocalNonPersistentFlags().HasAvailableFlags() {
			tables[c.CommandPath()] = flagTable(c.LocalNonPersistentFlags())
		}
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^## `(idemgen [a-z ]+)").FindAllStringSubmatch(page, -1) {
		documented = append(documented, strings.TrimSpace(m[1]))
	}
	for _, name := range names {
		if !slices.Contains(documented, name) {
			t.Errorf("docs/cli.md has no section for `%s`", name)
		}
	}
	for _, name := range documented {
		if !slices.Contains(names, name) {
			t.Errorf("docs/cli.md has a section for `%s`, which is no command", name)
		}
	}
	for name, table := range tables {
		if page, err = withTable(page, name, table); err != nil {
			t.Error(err)
		}
	}
	for _, m := range regexp.MustCompile("<!-- flags: (.*) -->").FindAllStringSubmatch(page, -1) {
		if tables[m[1]] == "" {
			t.Errorf("docs/cli.md has a table of flags for `%s`, which has none", m[1])
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if page != string(text) {
		t.Error("the tables of flags in docs/cli.md are not those of the commands: go test ./internal/cli -run Documented -update")
	}
}

// withTable puts a table between the marks of a command.
func withTable(page, name, table string) (string, error) {
	begin, end := "<!-- flags: "+name+" -->\n", "<!-- end of flags -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return page, fmt.Errorf("docs/cli.md has no lines %q and %q", begin, end)
	}
	return before + begin + table + end + after, nil
}

// TestCommandLinesOfThePageExist: what the page shows as a command line is one, with
// flags that there are.
func TestCommandLinesOfThePageExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			_, words, ok := strings.Cut(line, "idemgen ")
			if !ok {
				continue
			}
			found++
			words, _, _ = strings.Cut(words, " #")
			words, _, _ = strings.Cut(words, " |")
			words, _, _ = strings.Cut(words, ")")
			root := tree()
			c, rest, err := root.Find(strings.Fields(words))
			if err == nil && c.HasSubCommands() {
				err = fmt.Errorf("%s alone does nothing", c.CommandPath())
			}
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d command lines", found)
	}
}
