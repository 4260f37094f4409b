package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemgen/idemgen/generator/diag"
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// oneOf is a hint that lists what is allowed, the nearest first.
func oneOf(allowed []string, got string) string {
	if near := diag.Nearest(got, allowed); near != "" && got != "" {
		return "did you mean " + near + "?"
	}
	return "use one of: " + strings.Join(allowed, ", ")
}

// unknownCommand refuses words after `idemgen` that are no command.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Sprintf("unknown command %q", args[0]), oneOf(commandNames(cmd), args[0])}
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// unknownFlag turns pflag's error into ours, with the nearest flag.
func (a *app) unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{err.Error(), "see `" + cmd.CommandPath() + " --help`"}
	}
	name := unknown.GetSpecifiedName()
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	hint := "see `" + cmd.CommandPath() + " --help`"
	if near := diag.Nearest(name, flags); near != "" && len(name) > 1 {
		hint = "did you mean --" + near + "?"
	}
	return &usageError{err.Error(), hint}
}

// noArgs refuses arguments of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error { return atMost(0)(cmd, args) }

// atMost refuses more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return &usageError{fmt.Sprintf("`%s` takes no argument %q", cmd.CommandPath(), args[n]), "see `" + cmd.CommandPath() + " --help`"}
		}
		return nil
	}
}
