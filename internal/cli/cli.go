// Package cli is the command line of idemgen. It is given its arguments,
// writers and environment, and returns the exit code, so that only main
// touches the process.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator/diag"
)

// The exit codes.
const (
	exitOK       = 0 // nothing to report
	exitFindings = 1 // findings or drift
	exitFailed   = 2 // the work could not be done, or the command line is wrong
)

// Env is what the process gives.
type Env struct {
	Args           []string // without the program's name
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool // Stderr is a terminal
	// Stdin answers questions; nil, or one that is no terminal (Interactive), and
	// none is asked.
	Stdin       io.Reader
	Interactive bool
	// Width and ErrWidth are the numbers of columns of the terminals that Stdout
	// and Stderr are, 0 for what is none.
	Width, ErrWidth int
}

// Main runs one command and returns its exit code. It never panics: a bug is
// reported as one.
func Main(ctx context.Context, env Env) (code int) {
	a := &app{env: env}
	defer func() {
		if v := recover(); v != nil {
			a.bug(v)
			code = exitFailed
		}
	}()
	root := a.root()
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	return a.code(root.ExecuteContext(ctx))
}

// app is one invocation: its environment and its global flags.
type app struct {
	env    Env
	dir    string
	file   string
	quiet  bool
	format string
	color  string
}

// errFindings ends a command with exit code 1 whose findings are printed.
var errFindings = errors.New("findings")

// usageError is a wrong command line.
type usageError struct {
	message string
	hint    string
}

func (e *usageError) Error() string { return e.message }

func (a *app) code(err error) int {
	var failure *diag.Failure
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &failure):
		a.diagnostics(failure.Diagnostics)
		return exitFindings
	case errors.As(err, &usage):
		a.say("idemgen: %s", usage.message)
		if usage.hint != "" {
			a.say("  hint: %s", usage.hint)
		}
		return exitFailed
	}
	a.say("idemgen: %v", err)
	return exitFailed
}

// say writes a line to stderr.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.env.Stderr, format+"\n", args...) }

// print writes a line to stdout, unless -q is set.
func (a *app) print(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.env.Stdout, format+"\n", args...)
	}
}

// bug reports a panic as what it is.
func (a *app) bug(v any) {
	a.say("idemgen: this is a bug in idemgen: %v", v)
	a.say("Your files are as they were. Please report it at https://github.com/idemgen/idemgen/issues with the command,")
	a.say("the query, spec or migration that leads to it, and these lines:\n")
	a.say("%s\n%s", buildVersion(), debug.Stack())
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "idemgen",
		Short: "Turns annotated SQL into HTTP handlers that are safe to retry",
		Long: `idemgen reads sqlc queries with annotations, goose migrations and endpoint specs,
and emits Go handlers, the SQL that they run, and the migrations that they need.

Exit codes: 0 nothing to report, 1 findings or drift, 2 the work could not be done.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          a.unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "dir", "C", ".", "run in this folder")
	flags.StringVarP(&a.file, "file", "f", "", "the configuration file in that folder (default idemgen.yaml)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print diagnostics only")
	flags.StringVar(&a.format, "format", "text", "how results and diagnostics look: text, json or github")
	flags.StringVar(&a.color, "color", "auto", "colours: auto, always or never; auto follows the terminal and NO_COLOR")
	root.SetFlagErrorFunc(a.unknownFlag)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.checkFlags(cmd.Name()) }
	root.AddCommand(a.generate(), a.verify(), a.lint(), a.review(), a.plan(), a.eject(), a.init(), a.keys(), a.outbox(), a.sweep(), a.doctor(),
		a.schema(), a.explain(), a.version(), a.completion(root))
	root.SetHelpCommand(a.help(root))
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

func (a *app) checkFlags(command string) error {
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"--format", a.format, formats(command)},
		{"--color", a.color, []string{"auto", "always", "never"}},
	} {
		if !contains(f.allowed, f.value) {
			return &usageError{fmt.Sprintf("%s is %q", f.name, f.value), oneOf(f.allowed, f.value)}
		}
	}
	return nil
}
