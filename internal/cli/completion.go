package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// shells are those that completion writes a script for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completion(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and operations",
		Long: `Prints the completion script of a shell: bash, zsh, fish or powershell. For the running shell:

  source <(idemgen completion bash)
  idemgen completion fish | source`,
		ValidArgs: shells,
		Args:      atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"no shell is named", oneOf(shells, "")}
			}
			write := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				return &usageError{fmt.Sprintf("there is no completion for %q", args[0]), oneOf(shells, args[0])}
			}
			return write(a.env.Stdout)
		},
	}
}

// help is cobra's, but a topic that is not there is a wrong command line.
func (a *app) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			at, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				if at == nil || err != nil {
					at = root
				}
				if err := a.unknownCommand(at, rest); err != nil {
					return err
				}
				return a.unknownCommand(root, args)
			}
			return at.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, _, err := root.Find(args)
			if err != nil {
				at = root
			}
			return commandNames(at), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
