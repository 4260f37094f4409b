package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [config|specs]",
		Short:     "Print the JSON Schema of idemgen.yaml, or of the endpoint specs",
		Args:      atMost(1),
		ValidArgs: []string{"config", "specs"},
		RunE: func(_ *cobra.Command, args []string) error {
			text := config.JSONSchema()
			if len(args) == 1 && args[0] == "specs" {
				text = spec.JSONSchema()
			} else if len(args) == 1 && args[0] != "config" {
				return &usageError{fmt.Sprintf("there is no schema %q", args[0]), oneOf([]string{"config", "specs"}, args[0])}
			}
			_, err := fmt.Fprintf(a.env.Stdout, "%s\n", strings.TrimRight(string(text), "\n"))
			return err
		},
	}
}

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a diagnostic means, with a wrong and a right example",
		Args:  atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, code := range diag.Codes() {
					e, _ := diag.Explain(code)
					fmt.Fprintf(a.env.Stdout, "%s  %s\n", code, e.Title)
				}
				return nil
			}
			return a.explainOne(strings.ToUpper(args[0]))
		},
	}
}

func (a *app) explainOne(code string) error {
	e, ok := diag.Explain(diag.Code(code))
	if !ok {
		var codes []string
		for _, c := range diag.Codes() {
			codes = append(codes, string(c))
		}
		hint := "`idemgen explain` lists all codes"
		if near := diag.Nearest(code, codes); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &usageError{fmt.Sprintf("there is no diagnostic %q", code), hint}
	}
	indent := func(text string) string {
		return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
	}
	fmt.Fprintf(a.env.Stdout, "%s: %s\n\n%s\n\nWrong:\n\n%s\n\nRight:\n\n%s\n",
		e.Code, e.Title, strings.TrimRight(e.Meaning, "\n"), indent(e.Wrong), indent(e.Right))
	return nil
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.env.Stdout, buildVersion())
			return err
		},
	}
}

// buildVersion names idemgen, its build where that is known, Go and sqlc.
func buildVersion() string {
	out := "idemgen " + generator.Version
	if v := moduleVersion(); v != "" {
		out += " (" + v + ")"
	}
	_, sqlc, _ := strings.Cut(sqlcrun.Pinned, "@")
	return fmt.Sprintf("%s %s %s/%s, sqlc %s where none is installed", out, runtime.Version(), runtime.GOOS, runtime.GOARCH, sqlc)
}

// moduleVersion is the version of the module that the binary was built from,
// "" for a build from a checkout.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != "github.com/idemgen/idemgen" || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}
