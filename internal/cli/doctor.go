package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/internal/cli/doctor"
)

func (a *app) doctor() *cobra.Command {
	var d database
	var noSqlc bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine a database, and the pooler before it",
		Long: `Asks a database what would keep the service from working as it should: version and settings, clock,
pooling, the runtime's tables, indexes and rights, overdue keys, held and overdue work, dead
and overdue events. Where the service's sources are
(idemgen.yaml), also pending migrations, indexes of intents that are missing or INVALID, and
triggers and rules that the plans don't know of. Writes nothing. Use the service's own URL.
Exit code 1: something was found.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := a.open(cmd.Context(), d)
			if err != nil {
				return err
			}
			defer pool.Close()
			service, missing := a.sources(cmd.Context(), generator.Options{DryRun: true, NoSqlc: noSqlc})
			end := a.progress("examining")
			defer end()
			found, err := doctor.Examine(cmd.Context(), doctor.Patient{Pool: pool, Service: service})
			if err != nil {
				return err
			}
			end()
			if missing != "" {
				found = append(found, doctor.Finding{Check: "sources", Severity: doctor.Problem, Message: missing, Hint: "correct them, so that what depends on them can be looked at"})
			}
			return a.examined(found)
		},
	}
	d.flag(cmd)
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// sources reads the service where it is there. What keeps it from being read is a
// finding: the database is worth looking at all the same.
func (a *app) sources(ctx context.Context, opts generator.Options) (*generator.Result, string) {
	result, err := a.run(ctx, opts)
	var failure *diag.Failure
	switch {
	case err == nil || result != nil:
		return result, ""
	case errors.Is(err, generator.ErrNoConfig):
		return nil, ""
	case errors.As(err, &failure):
		return nil, fmt.Sprintf("the service's sources have %s: see `%s`", count(len(failure.Diagnostics), "error"), a.command("verify"))
	}
	return nil, "the service's sources can't be read: " + err.Error()
}

// marks begin a line of the report.
var marks = map[doctor.Severity]string{doctor.OK: "ok", doctor.Warning: "warning", doctor.Problem: "problem", doctor.Skipped: "skipped"}

// colours of the marks, for terminals.
var colours = map[doctor.Severity]string{doctor.OK: "\x1b[32m", doctor.Warning: "\x1b[1;33m", doctor.Problem: "\x1b[1;31m", doctor.Skipped: "\x1b[2m"}

func (a *app) examined(found []doctor.Finding) error {
	bad := 0
	for _, f := range found {
		if f.Severity == doctor.Warning || f.Severity == doctor.Problem {
			bad++
		}
		switch {
		case a.format == "github":
			a.annotate(f)
		case a.format == "text" && (!a.quiet || f.Severity == doctor.Warning || f.Severity == doctor.Problem):
			a.finding(f)
		}
	}
	if a.format == "json" {
		if err := a.printJSON(found); err != nil {
			return err
		}
	}
	if bad > 0 {
		return errFindings
	}
	return nil
}

// finding writes one line, and the way out below it.
func (a *app) finding(f doctor.Finding) {
	mark := fmt.Sprintf("%-8s", marks[f.Severity])
	if a.colored() {
		mark = colours[f.Severity] + mark + "\x1b[0m"
	}
	fmt.Fprintf(a.env.Stdout, "%s %s: %s\n", mark, f.Check, f.Message)
	if f.Hint != "" {
		fmt.Fprintf(a.env.Stdout, "         hint: %s\n", f.Hint)
	}
}

// annotate writes a finding as a GitHub Actions annotation.
func (a *app) annotate(f doctor.Finding) {
	level := map[doctor.Severity]string{doctor.Warning: "warning", doctor.Problem: "error"}[f.Severity]
	if level == "" {
		return
	}
	text := f.Message
	if f.Hint != "" {
		text += "\nhint: " + f.Hint
	}
	a.say("::%s title=%s::%s", level, property("idemgen doctor: "+f.Check), escaped(text))
}
