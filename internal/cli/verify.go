package cli

import (
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/files"
)

func (a *app) verify() *cobra.Command {
	var showDiff, noSqlc bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Fail if an emitted file is stale, missing or edited",
		Long:  "For CI: does what generate does, writes nothing, and exits 1 if generate would change a file. Needs no git.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := a.run(cmd.Context(), generator.Options{DryRun: true, NoSqlc: noSqlc})
			if err != nil {
				return err
			}
			a.diagnostics(result.Warnings)
			return a.verified(result, showDiff)
		},
	}
	cmd.Flags().BoolVar(&showDiff, "diff", false, "show unified diffs")
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// drift is what verify calls a change.
func drift(c files.Change) string {
	switch {
	case c.Action == files.Remove:
		return "unwanted"
	case c.Old == nil:
		return "missing"
	}
	return "stale"
}

type driftJSON struct {
	State string `json:"state"`
	Path  string `json:"path"`
	Diff  string `json:"diff,omitempty"`
}

func (a *app) verified(result *generator.Result, showDiff bool) error {
	changes := slices.DeleteFunc(slices.Clone(result.Changes), func(c files.Change) bool { return c.Action == files.Keep })
	if a.format == "json" {
		out := []driftJSON{}
		for _, c := range changes {
			d := driftJSON{State: drift(c), Path: a.shown(c.Path)}
			if showDiff {
				d.Diff = a.unified(c)
			}
			out = append(out, d)
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.printDrift(changes, showDiff)
	}
	if len(changes) == 0 {
		return nil
	}
	if a.format == "text" {
		a.say("idemgen: %s out of date; run `%s` and commit what it writes", count(len(changes), "file"), a.command("generate"))
	}
	return errFindings
}

func (a *app) printDrift(changes []files.Change, showDiff bool) {
	for _, c := range changes {
		if a.format == "github" {
			// An annotation needs a file that is in the checkout.
			a.say("::error file=%s,title=idemgen verify::%s: run `%s` and commit what it writes", a.shown(c.Path), drift(c), a.command("generate"))
		}
		a.print("%s %s", drift(c), a.shown(c.Path))
		if showDiff {
			a.print("%s", a.unified(c))
		}
	}
}

func (a *app) unified(c files.Change) string {
	p := a.shown(c.Path)
	return string(diff.Diff("a/"+p, c.Old, "b/"+p, c.New))
}

// command is how to run a command with the same -C and -f.
func (a *app) command(name string) string {
	out := "idemgen "
	if a.dir != "" && a.dir != "." {
		out += "-C " + a.dir + " "
	}
	if a.file != "" {
		out += "-f " + a.file + " "
	}
	return out + name
}
