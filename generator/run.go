package generator

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/generator/check"
	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/render"
	"github.com/idemgen/idemgen/generator/review"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// Run generates: it writes missing migrations, runs sqlc, reads, checks and
// emits, in one go that either succeeds or leaves the tree as it was. Input
// that can't be accepted gives a *diag.Failure with everything that was found;
// any other error is something that kept the work from being done. Where only
// files in the tree are in the way, edited ones for example, the result is there
// beside the failure: it has the changes to all others.
func Run(ctx context.Context, opts Options) (*Result, error) {
	tree, err := files.Open(opts.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }()
	r := &runner{opts: opts, tree: tree}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	err = r.diags.Err()
	if err != nil && r.changes == nil {
		return nil, err
	}
	result := &Result{Config: r.cfg.File, Out: r.cfg.Out, Changes: r.changes, Operations: r.operations, Review: r.review, Warnings: r.diags.Sorted(), Notes: r.notes(),
		Service: r.svc, Catalog: r.catalog, Migrations: r.migrationPaths()}
	if err != nil { // the tree is in the way, not the input
		return result, err
	}
	if opts.DryRun {
		return result, nil
	}
	return result, tree.Apply(r.changes)
}

// runner is one run. Its steps fill it from top to bottom.
type runner struct {
	opts   Options
	tree   *files.Tree
	diags  diag.List
	broken bool // a file of SQL can't be read at all: sqlc would only say so again

	cfg        *config.Config
	cfgText    string // of the file, and with what Options.Eject adds
	cfgNew     string
	entries    []*sqlcrun.Entry
	catalog    *schema.Catalog
	decls      []*spec.QueryDecl
	endpoints  []*spec.Endpoint
	wanted     []*model.Intent // of all operations
	migrations []files.File    // that are missing
	sqlc       *sqlcrun.Output
	svc        *model.Service
	operations []*plan.Operation
	ddl        []schema.File // everything that was read of the schema
	review     *review.Document
	emitted    []files.File
	changes    []files.Change
}

// run stops before a step whose input is known to be wrong, and collects all
// errors up to there, sqlc's included.
func (r *runner) run(ctx context.Context) error {
	if err := r.readConfig(); err != nil || r.diags.HasErrors() {
		return err
	}
	r.entries = sqlcrun.Entries(r.sqlcOptions(), &r.diags)
	if len(r.entries) == 0 {
		return nil
	}
	r.checkOut()
	r.checkClient()
	r.checkMigrations()
	if err := r.readCatalog(); err != nil {
		return err
	}
	if err := r.readDeclarations(); err != nil {
		return err
	}
	if err := r.addMigrations(); err != nil {
		return err
	}
	if r.broken {
		return nil
	}
	var err error
	if r.sqlc, err = sqlcrun.Run(ctx, r.sqlcOptions(), r.entries, &r.diags); err != nil || r.diags.HasErrors() {
		return err
	}
	if err := r.compile(); err != nil || r.diags.HasErrors() {
		return err
	}
	return r.reconcile()
}

func (r *runner) sqlcOptions() sqlcrun.Options {
	return sqlcrun.Options{Tree: r.tree, Configs: r.cfg.Sqlc, Command: r.cfg.SqlcCommand, Place: r.cfg.Place, Pending: r.migrations, NoSqlc: r.opts.NoSqlc}
}

// addMigrations renders the migrations that are missing, and reads the catalog
// again with them, so that this run and the next one see the same.
func (r *runner) addMigrations() error {
	if r.diags.HasErrors() {
		return nil
	}
	r.wanted = r.intents()
	if r.diags.HasErrors() {
		return nil
	}
	now := r.opts.Now
	if now == nil {
		now = time.Now
	}
	var err error
	r.migrations, err = render.Migrations(r.cfg.Migrations, r.catalog, r.wanted, r.cfg.Sweep.Cron, now().UTC().Format("20060102150405"))
	var full *render.NumbersUsedUp
	if errors.As(err, &full) {
		r.numbersUsedUp(full)
		return nil
	}
	if err != nil || len(r.migrations) == 0 {
		return err
	}
	return r.readCatalog()
}

func (r *runner) intents() []*model.Intent {
	return check.Intents(r.cfg, r.catalog, r.decls, r.endpoints, &r.diags)
}

// compile makes the model, the plan and the text of the files.
func (r *runner) compile() error {
	r.svc = check.Check(check.Input{
		Config: r.cfg, Module: r.tree.Module.Path, Catalog: r.catalog,
		Decls: r.decls, Endpoints: r.endpoints, Queries: r.sqlc.Queries, Entries: r.sqlc.Entries,
	}, &r.diags)
	r.ejected(r.svc)
	if r.diags.HasErrors() {
		return nil
	}
	r.operations = plan.Plan(r.svc, &r.diags)
	if r.diags.HasErrors() {
		return nil
	}
	var err error
	if r.emitted, err = render.Emit(r.cfg.Out, r.svc, r.operations); err != nil {
		return err
	}
	tests, err := render.Conformance(r.cfg.Out, r.cfg.Migrations, r.svc, r.operations)
	r.emitted = append(r.emitted, tests...)
	r.release()
	if err != nil {
		return err
	}
	if err := r.emitOutside(r.svc); err != nil {
		return err
	}
	return r.describe(r.svc)
}

// reconcile compares everything that is to be there with the tree.
func (r *runner) reconcile() error {
	want := append(r.emitted, r.migrations...)
	for p, text := range r.sqlc.Files {
		want = append(want, files.File{Path: p, Content: text, Foreign: true})
	}
	versions := []string{"idemgen " + Version}
	if r.sqlc.Version != "" {
		versions = append(versions, "sqlc "+r.sqlc.Version)
	}
	var err error
	r.changes, err = r.tree.Reconcile(want, lockName(r.cfg.File), versions, &r.diags)
	r.ejectChange()
	return err
}
