package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/lint"
	"github.com/idemgen/idemgen/internal/cli/doctor"
)

// riskCodes begin all codes of risks.
const riskCodes = "IDEM08"

func (a *app) lint() *cobra.Command {
	var d database
	var allow []string
	var noSqlc bool
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Find what generate refuses, and risks in what it accepts",
		Long: `Reports all that generate reports, and risks: an INSERT that only the key protects, an intent over
scopes, a key of few values, locks in no fixed order, a list without a limit, a kept secret.
With --db also indexes of intents that the database lacks, or that are INVALID. Writes nothing.

--allow CODE takes a risk everywhere, --allow CODE:OPERATION in one operation. Exit code 1: something was found.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			allowed, err := parseAllowed(allow)
			if err != nil {
				return err
			}
			result, err := a.run(cmd.Context(), generator.Options{DryRun: true, NoSqlc: noSqlc})
			if err != nil {
				return err
			}
			if err := unknownOperations(allowed, result); err != nil {
				return err
			}
			var found diag.List
			found.Add(result.Warnings...)
			lint.Check(result.Service, result.Catalog, allowed, &found)
			if d.url != "" {
				if err := a.lintDatabase(cmd.Context(), d, result, allowed, &found); err != nil {
					return err
				}
			}
			return a.linted(found.Sorted(), len(result.Operations))
		},
	}
	d.flag(cmd)
	cmd.Flags().Lookup("db").Usage = "also look for missing and INVALID indexes in this database, a URL"
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "a risk that is taken: CODE or CODE:OPERATION; may be repeated")
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	_ = cmd.RegisterFlagCompletionFunc("allow", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return riskNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// riskNames are the codes that --allow takes.
func riskNames() []string {
	var out []string
	for _, c := range diag.Codes() {
		if strings.HasPrefix(string(c), riskCodes) {
			out = append(out, string(c))
		}
	}
	return out
}

func parseAllowed(list []string) (lint.Allowed, error) {
	out := lint.Allowed{}
	for _, item := range list {
		code, operation, one := strings.Cut(item, ":")
		code = strings.ToUpper(code)
		if !contains(riskNames(), code) {
			return nil, &usageError{fmt.Sprintf("--allow %s names no risk", item), oneOf(riskNames(), code)}
		}
		names, known := out[diag.Code(code)]
		switch {
		case !one:
			out[diag.Code(code)] = nil
		case !known || len(names) > 0:
			out[diag.Code(code)] = append(names, operation)
		}
	}
	return out, nil
}

// unknownOperations refuses --allow for operations that are not there: a risk
// that was renamed would come back unseen, or never have been allowed.
func unknownOperations(allowed lint.Allowed, result *generator.Result) error {
	names := operationNames(result)
	for _, code := range diag.Codes() {
		for _, name := range allowed[code] {
			if !contains(names, name) {
				return &usageError{fmt.Sprintf("--allow %s:%s: there is no operation %s", code, name, name), oneOf(names, name)}
			}
		}
	}
	return nil
}

func operationNames(result *generator.Result) []string {
	var out []string
	for _, op := range result.Operations {
		out = append(out, op.Model.Name)
	}
	slices.Sort(out)
	return out
}

// lintDatabase adds what the database lacks.
func (a *app) lintDatabase(ctx context.Context, d database, result *generator.Result, allowed lint.Allowed, found *diag.List) error {
	pool, err := a.open(ctx, d)
	if err != nil {
		return err
	}
	defer pool.Close()
	lacks, err := doctor.Indexes(ctx, pool, result.Service)
	if err != nil {
		return explained(err)
	}
	for _, l := range lacks {
		if allowed.Has(diag.RiskIndex, l.Operation) {
			continue
		}
		found.Warnf(diag.RiskIndex, l.Intent.Pos, "%s: %s", l.Operation, l.Problem()).Hint("%s", l.Way())
	}
	return nil
}

func (a *app) linted(found []diag.Diagnostic, operations int) error {
	a.diagnostics(found)
	if a.format == "text" {
		a.print("%s in %s", count(len(found), "finding"), count(operations, "operation"))
	}
	if len(found) > 0 {
		return errFindings
	}
	return nil
}
