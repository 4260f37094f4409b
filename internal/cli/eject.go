package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
)

func (a *app) eject() *cobra.Command {
	var dryRun, noSqlc bool
	cmd := &cobra.Command{
		Use:   "eject OPERATION ...",
		Short: "Make the emitted files of an operation your own",
		Long: `Leaves the Go file and the .sql file of an operation to you: generate and verify no longer
compare them, edits are kept, and the operation stays in the service as before. It is added to
eject: in the configuration. What follows from its query or spec no longer reaches these files:
constraints, checks, the strategy. The rest of the package is generated as before.

To take it back: remove the operation from eject:, delete its two files, and generate.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"eject needs the name of an operation", "write " + a.command("eject CreatePayment")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args = slices.Compact(slices.Sorted(slices.Values(args)))
			result, err := a.run(cmd.Context(), generator.Options{DryRun: dryRun, NoSqlc: noSqlc, Eject: args})
			if err != nil {
				return err
			}
			a.diagnostics(result.Warnings)
			return a.generated(result, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be written, and write nothing")
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}
