package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
)

func (a *app) verify() *cobra.Command {
	var showDiff, noSqlc bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Fail if an emitted file is stale, missing or edited",
		Long: `For CI: does what generate does, writes nothing, and exits 1 if generate would change a file. Needs no git.

  missing   it was never generated        stale     its input has changed since
  deleted   it was generated, and is gone unwanted  nothing asks for it any more
  edited    it was changed by hand        versions  only the versions in idemgen.lock differ`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := a.run(cmd.Context(), generator.Options{DryRun: true, NoSqlc: noSqlc})
			if result == nil {
				return err
			}
			a.diagnostics(result.Warnings) // with the errors about files that are in the way
			return a.verified(drifts(result), showDiff)
		},
	}
	cmd.Flags().BoolVar(&showDiff, "diff", false, "show unified diffs")
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// The kinds of drift, as verify calls them.
const (
	missing  = "missing"
	deleted  = "deleted"
	stale    = "stale"
	unwanted = "unwanted"
	edited   = "edited"
	versions = "versions"
	inTheWay = "in the way"
)

// drift is a file that is not what it should be.
type drift struct {
	state    string
	change   files.Change
	reported bool // by a diagnostic, with the way out
}

// drifts are all of a result, in the order of their paths.
func drifts(result *generator.Result) []drift {
	var out []drift
	for _, c := range result.Changes {
		if c.Action != files.Keep {
			out = append(out, drift{state: driftOf(c), change: c})
		}
	}
	for _, d := range result.Warnings {
		switch {
		case d.Severity != diag.Error:
		case d.Code == diag.EditedFile:
			out = append(out, drift{edited, files.Change{Path: d.Pos.File}, true})
		default:
			out = append(out, drift{inTheWay, files.Change{Path: d.Pos.File}, true})
		}
	}
	slices.SortStableFunc(out, func(a, b drift) int { return strings.Compare(a.change.Path, b.change.Path) })
	return out
}

func driftOf(c files.Change) string {
	switch {
	case c.Versions:
		return versions
	case c.Action == files.Remove:
		return unwanted
	case c.Old == nil && c.Emitted:
		return deleted
	case c.Old == nil:
		return missing
	}
	return stale
}

type driftJSON struct {
	State string `json:"state"`
	Path  string `json:"path"`
	Diff  string `json:"diff,omitempty"`
}

func (a *app) verified(found []drift, showDiff bool) error {
	if a.format == "json" {
		out := []driftJSON{}
		for _, d := range found {
			j := driftJSON{State: d.state, Path: a.shown(d.change.Path)}
			if showDiff && !d.reported {
				j.Diff = a.unified(d.change)
			}
			out = append(out, j)
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.printDrift(found, showDiff)
	}
	if len(found) == 0 {
		return nil
	}
	if a.format == "text" {
		a.say("idemgen: %s", a.wayOut(found))
	}
	return errFindings
}

// wayOut says what to do about all that was found.
func (a *app) wayOut(found []drift) string {
	byHand := 0
	for _, d := range found {
		if d.reported {
			byHand++
		}
	}
	switch {
	case byHand == len(found):
		return count(byHand, "file") + " not as idemgen emitted it; see the hints above"
	case byHand > 0:
		return fmt.Sprintf("%s out of date, %d of them not as idemgen emitted it; see the hints above, then run `%s` and commit what it writes",
			count(len(found), "file"), byHand, a.command("generate"))
	case len(found) == 1 && found[0].state == versions:
		return fmt.Sprintf("generated with other versions, to the same code; run `%s` and commit %s", a.command("generate"), a.shown(found[0].change.Path))
	}
	return fmt.Sprintf("%s out of date; run `%s` and commit what it writes", count(len(found), "file"), a.command("generate"))
}

func (a *app) printDrift(found []drift, showDiff bool) {
	for _, d := range found {
		if a.format == "github" && !d.reported {
			// GitHub shows an annotation at a file that is in the checkout.
			at := ""
			if d.change.Old != nil {
				at = "file=" + property(a.shown(d.change.Path)) + ","
			}
			a.say("::error %stitle=idemgen verify::%s", at, escaped(fmt.Sprintf("%s %s: run `%s` and commit what it writes", d.state, a.shown(d.change.Path), a.command("generate"))))
		}
		a.print("%s %s", d.state, a.shown(d.change.Path))
		if showDiff && !d.reported {
			a.print("%s", a.unified(d.change))
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
