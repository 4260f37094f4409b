package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/plan"
)

func (a *app) plan() *cobra.Command {
	var d database
	var noSqlc bool
	cmd := &cobra.Command{
		Use:   "plan OPERATION",
		Short: "Show an operation's strategy and SQL, and with --db its EXPLAIN",
		Long: `Shows how an operation runs: strategy, round trips, and the very statements. With --db each is
explained by that database as the service's cached plan would be (a generic plan). Nothing is executed.`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeOperations,
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := a.run(cmd.Context(), generator.Options{DryRun: true, NoSqlc: noSqlc})
			if err != nil {
				return err
			}
			op, err := operationNamed(result, args)
			if err != nil {
				return err
			}
			var explained map[string][]string
			if d.url != "" {
				if explained, err = a.explainAll(cmd.Context(), d, op); err != nil {
					return err
				}
			}
			return a.planned(op, explained)
		},
	}
	d.flag(cmd)
	cmd.Flags().Lookup("db").Usage = "let this database explain each statement, a URL"
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// operationNamed finds the operation that the command line names.
func operationNamed(result *generator.Result, args []string) (*plan.Operation, error) {
	names := operationNames(result)
	if len(args) == 0 {
		return nil, &usageError{"no operation is named", "there are: " + strings.Join(names, ", ")}
	}
	for _, op := range result.Operations {
		if op.Model.Name == args[0] {
			return op, nil
		}
	}
	return nil, &usageError{fmt.Sprintf("there is no operation %q", args[0]), oneOf(names, args[0])}
}

// completeOperations offers the operations by a quick look at the sources.
func (a *app) completeOperations(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return generator.OperationNames(generator.Options{Dir: a.dir, ConfigFile: a.file}), cobra.ShellCompDirectiveNoFileComp
}

type planJSON struct {
	operationJSON
	Async      bool            `json:"async,omitempty"` // the statements run in the background
	Calls      []callJSON      `json:"calls,omitempty"`
	Events     []eventJSON     `json:"events,omitempty"`
	Statements []statementJSON `json:"statements"`
}

type statementJSON struct {
	Name    string   `json:"name"`
	SQL     string   `json:"sql"`
	Explain []string `json:"explain,omitempty"`
}

func (a *app) planned(op *plan.Operation, explained map[string][]string) error {
	if a.format == "json" {
		out := planJSON{operationJSON: operationOf(op), Async: op.Model.Async, Calls: callsOf(op.Model), Events: eventsOf(op.Model), Statements: []statementJSON{}}
		for _, s := range op.Statements {
			out.Statements = append(out.Statements, statementJSON{s.Name, s.SQL, explained[s.Name]})
		}
		return a.printJSON(out)
	}
	a.print("%s: %s %s\nstrategy: %s, %s", op.Model.Name, op.Model.Method, op.Model.Path, op.Strategy, count(op.RoundTrips, "round trip"))
	if op.Reason != "" {
		a.print("why: %s", op.Reason)
	}
	a.planOutside(op.Model)
	for _, s := range op.Statements {
		a.print("\n%s\n%s", a.heading("-- statement: "+s.Name), strings.TrimRight(s.SQL, "\n"))
		if lines := explained[s.Name]; len(lines) > 0 {
			a.print("\n-- EXPLAIN\n--   %s", strings.Join(lines, "\n--   "))
		}
	}
	return nil
}

// heading is bold on a terminal.
func (a *app) heading(text string) string {
	if a.colored() && a.env.Width > 0 {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// explainAll asks the database for the plan of each statement.
func (a *app) explainAll(ctx context.Context, d database, op *plan.Operation) (map[string][]string, error) {
	pool, err := a.open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	end := a.progress("explaining")
	defer end()
	out := map[string][]string{}
	for _, s := range op.Statements {
		lines, err := explainStatement(ctx, pool, s.SQL, len(s.Args))
		if err != nil {
			return nil, fmt.Errorf("statement %s of %s: %w", s.Name, op.Model.Name, explained(err))
		}
		out[s.Name] = lines
	}
	return out, nil
}
