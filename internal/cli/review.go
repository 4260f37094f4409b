package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/gitrev"
	"github.com/idemgen/idemgen/generator/review"
)

// reviewFlags are the flags of review.
type reviewFlags struct {
	base, html string
	noSqlc     bool
}

const reviewCommand = "review"

// formats are what --format allows for a command.
func formats(command string) []string {
	all := []string{"text", "json", "github"}
	if command == reviewCommand {
		all = append(all, "markdown")
	}
	return all
}

func (a *app) review() *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   reviewCommand,
		Short: "Say what changed since a git revision, and what of it is risky",
		Long: `Compares the working tree with what was committed: routes, keys, intents, locks, times, strategies,
answers, inputs and SQL of every operation, and the indexes that new migrations build. It writes nothing, and
reads the revision from git's own store. Where HEAD has left the branch of --base, the last common commit counts.

--format: text, json, github (annotations), or markdown, for a comment on a pull request.
--html writes a page that needs no network.

Exit codes: 0 nothing risky, 1 risks, 2 the work could not be done.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts := generator.Options{Dir: a.dir, ConfigFile: a.file, NoSqlc: f.noSqlc}
			report, result, err := generator.Review(cmd.Context(), opts, f.base)
			var base *gitrev.Error
			if errors.As(err, &base) {
				return &usageError{base.Message, base.Hint}
			}
			if err != nil {
				return err
			}
			a.diagnostics(result.Warnings)
			return a.reviewed(report, f.html)
		},
	}
	cmd.Flags().StringVar(&f.base, "base", "HEAD", "the revision to compare with: a branch, a tag or a commit")
	cmd.Flags().StringVar(&f.html, "html", "", "also write a page to this file")
	cmd.Flags().BoolVar(&f.noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// reviewed prints a report.
func (a *app) reviewed(report *review.Report, page string) error {
	if page != "" {
		if err := a.savePage(report, page); err != nil {
			return err
		}
	}
	switch a.format {
	case "json":
		if err := a.printJSON(report); err != nil {
			return err
		}
	case "markdown":
		a.print("%s", strings.TrimRight(report.Markdown(), "\n"))
	case "github":
		for _, f := range report.Findings {
			a.say("%s", a.workflowCommand(diag.Diagnostic{
				Code: diag.Code("idemgen review: " + f.Rule), Severity: annotation(f.Severity), Pos: f.Pos,
				Message: f.About() + "\n" + f.Means, Hint: f.Way,
			}))
		}
		a.print("%s", strings.TrimRight(report.Text(), "\n"))
	default:
		a.print("%s", strings.TrimRight(report.Text(), "\n"))
	}
	if report.Risky() {
		return errFindings
	}
	return nil
}

func (a *app) savePage(report *review.Report, page string) error {
	text, err := report.HTML()
	if err != nil {
		return err
	}
	at := page
	if !filepath.IsAbs(at) {
		at = filepath.Join(a.dir, at)
	}
	if err := files.Save(at, text); err != nil {
		return fmt.Errorf("the page can't be written: %w", err)
	}
	return nil
}

// annotation is how GitHub shows a finding: a note is no warning.
func annotation(s review.Severity) diag.Severity {
	if s == review.Risk {
		return diag.Warning
	}
	return "notice"
}
