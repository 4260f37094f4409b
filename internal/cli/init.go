package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/scaffold"
)

// initFlags are the flags of init.
type initFlags struct {
	existing   bool
	noGenerate bool
	module     string
	checkout   string
}

func (a *app) init() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [dir]",
		Short: "Make a runnable service, or add idemgen to one",
		Long: `Makes a runnable service in dir (default: the current folder): a go.mod if there is none, a
goose migration, one annotated query, sqlc.yaml, idemgen.yaml and a main.go with a go:generate
line; then generates it. No file is ever overwritten.

--existing adds only an idemgen.yaml that fits the sqlc.yaml and migrations that are there
(and a sqlc.yaml if there is none), and a go:generate line.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if filepath.IsAbs(args[0]) {
					a.dir = args[0]
				} else {
					a.dir = filepath.Join(a.dir, args[0])
				}
			}
			if f.existing {
				return a.initExisting(f)
			}
			return a.initNew(cmd, f)
		},
	}
	cmd.Flags().BoolVar(&f.existing, "existing", false, "only add to a module that has code of its own")
	cmd.Flags().BoolVar(&f.noGenerate, "no-generate", false, "write the input files only")
	cmd.Flags().StringVar(&f.module, "module", "", "the path of the new module (default example.com/FOLDER)")
	cmd.Flags().StringVar(&f.checkout, "idemgen-dir", "", "use this checkout of idemgen, by a replace line in go.mod")
	return cmd
}

func (f initFlags) options() (scaffold.Options, error) {
	o := scaffold.Options{Module: f.module, Version: moduleVersion(), NoGenerate: f.noGenerate}
	if o.Version == "" || f.checkout != "" || strings.Contains(o.Version, "+") { // a build of edited files has no version to fetch
		o.Version = "v" + generator.Version
	}
	if f.checkout != "" {
		abs, err := filepath.Abs(f.checkout)
		if err != nil {
			return o, err
		}
		o.Checkout = filepath.ToSlash(abs)
	}
	return o, nil
}

func (a *app) initNew(cmd *cobra.Command, f initFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	made, err := scaffold.New(a.dir, opts)
	if errors.Is(err, scaffold.ErrHasCode) {
		return &usageError{message: err.Error()}
	}
	if err != nil {
		return err
	}
	a.printAdded(made)
	if !f.noGenerate {
		a.file = ""
		result, err := a.run(cmd.Context(), generator.Options{})
		if err != nil {
			return fmt.Errorf("the files are made; generating from them failed: %w", err)
		}
		if err := a.generated(result, false); err != nil {
			return err
		}
	}
	a.next(made.Next)
	return nil
}

func (a *app) initExisting(f initFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	made, err := scaffold.Existing(a.dir, opts)
	if errors.Is(err, files.ErrNoModule) {
		return &usageError{"there is no go.mod in " + a.dir + " or above", "without --existing, init makes a service of its own"}
	}
	if err != nil {
		return err
	}
	a.printAdded(made)
	a.next(made.Next)
	return nil
}

func (a *app) printAdded(made *scaffold.Result) {
	for _, c := range made.Changes {
		if c.Action == files.Write {
			a.print("wrote %s", a.shown(c.Path))
		} else {
			a.print("kept %s, which was there", a.shown(c.Path))
		}
	}
}

func (a *app) next(steps []string) {
	a.print("\nNext:")
	if a.dir != "" && a.dir != "." {
		a.print("  cd %s", a.dir)
	}
	for _, s := range steps {
		a.print("  %s", s)
	}
}
