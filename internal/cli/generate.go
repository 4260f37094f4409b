package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/plan"
)

func (a *app) generate() *cobra.Command {
	var dryRun, noSqlc, watch bool
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write missing migrations, run sqlc, and emit handlers and SQL",
		Long: `Writes the migrations that are missing, runs the service's sqlc, and emits one Go file
and one .sql file per operation. Input with errors changes nothing. A second run changes nothing.

--no-sqlc starts no process: the sqlc entry must have a "json" section under "gen", and
"sqlc generate" must have run before.

--watch goes on until it is interrupted, and generates whenever a file changes that it reads.
No error ends it.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts := generator.Options{DryRun: dryRun, NoSqlc: noSqlc}
			if watch {
				return a.watch(cmd.Context(), opts)
			}
			result, err := a.run(cmd.Context(), opts)
			if err != nil {
				return err
			}
			a.diagnostics(result.Warnings)
			return a.generated(result, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be written, and write nothing")
	cmd.Flags().BoolVar(&watch, "watch", false, "generate again whenever an input changes")
	cmd.Flags().BoolVar(&noSqlc, "no-sqlc", false, "read what sqlc left on disk, and don't run it")
	return cmd
}

// run generates with the global flags, and says on a terminal why it takes
// more than a second.
func (a *app) run(ctx context.Context, opts generator.Options) (*generator.Result, error) {
	opts.Dir, opts.ConfigFile = a.dir, a.file
	what := "generating"
	if !opts.NoSqlc {
		what = "running sqlc (the first run on a machine builds it, which takes about two minutes)"
	}
	defer a.progress(what)()
	return generator.Run(ctx, opts)
}

// generated prints what a run did.
func (a *app) generated(result *generator.Result, dryRun bool) error {
	if a.format == "json" {
		return a.generatedJSON(result, dryRun)
	}
	kept := 0
	for _, c := range result.Changes {
		if c.Action == files.Keep {
			kept++
			continue
		}
		a.print("%s", a.changed(c, dryRun))
	}
	if kept > 0 {
		a.print("kept %s", count(kept, "file"))
	}
	a.operations(result.Operations)
	for _, n := range result.Notes {
		a.print("note: %s", n)
	}
	return nil
}

// changed says what was done to a file, or would be.
func (a *app) changed(c files.Change, dryRun bool) string {
	verb := map[files.Action]string{files.Write: "wrote", files.Remove: "removed"}[c.Action]
	if dryRun {
		verb = map[files.Action]string{files.Write: "would write", files.Remove: "would remove"}[c.Action]
	}
	return verb + " " + a.shown(c.Path)
}

// operations prints one line per operation.
func (a *app) operations(ops []*plan.Operation) {
	if a.quiet || len(ops) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.env.Stdout, 0, 0, 2, ' ', 0)
	for _, op := range ops {
		strategy := string(op.Strategy)
		if op.Reason != "" {
			strategy += " (" + op.Reason + ")"
		}
		if op.Model.Ejected {
			strategy = "ejected; was " + strategy
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", op.Model.Name, op.Model.Method, op.Model.Path, count(op.RoundTrips, "round trip"), strategy)
	}
	_ = w.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

type resultJSON struct {
	DryRun     bool            `json:"dry_run"`
	Changes    []changeJSON    `json:"changes"`
	Operations []operationJSON `json:"operations"`
	Notes      []string        `json:"notes,omitempty"`
}

type changeJSON struct {
	Action string `json:"action"`
	Path   string `json:"path"`
}

type operationJSON struct {
	Name       string `json:"name"`
	Method     string `json:"method"`
	Path       string `json:"path"`
	Strategy   string `json:"strategy"`
	Reason     string `json:"reason,omitempty"`
	RoundTrips int    `json:"round_trips"`
	Ejected    bool   `json:"ejected,omitempty"`
}

func (a *app) generatedJSON(result *generator.Result, dryRun bool) error {
	out := resultJSON{DryRun: dryRun, Changes: []changeJSON{}, Operations: []operationJSON{}, Notes: result.Notes}
	for _, c := range result.Changes {
		out.Changes = append(out.Changes, changeJSON{string(c.Action), a.shown(c.Path)})
	}
	for _, op := range result.Operations {
		out.Operations = append(out.Operations, operationOf(op))
	}
	return a.printJSON(out)
}

func operationOf(op *plan.Operation) operationJSON {
	return operationJSON{op.Model.Name, op.Model.Method, op.Model.Path, string(op.Strategy), op.Reason, op.RoundTrips, op.Model.Ejected}
}

func (a *app) printJSON(v any) error {
	if a.quiet {
		return nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.env.Stdout, b.String())
	return err
}
