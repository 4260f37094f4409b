package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/cli/keyring"
)

// keysFlags are what narrows a search for keys.
type keysFlags struct {
	database
	scope, operation, key string
	expired, unfinished   bool
	held                  bool
}

func (f *keysFlags) flags(cmd *cobra.Command) {
	f.flag(cmd)
	cmd.Flags().StringVar(&f.scope, "scope", "", "only keys of this scope")
	cmd.Flags().StringVar(&f.operation, "operation", "", "only keys of this operation, as service.Operation")
	cmd.Flags().StringVar(&f.key, "key", "", "only this key")
}

func (f *keysFlags) states(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.expired, "expired", false, "only keys whose record has expired and was not swept yet")
	cmd.Flags().BoolVar(&f.unfinished, "unfinished", false, "only keys without an answer: work that commits in between")
	cmd.Flags().BoolVar(&f.held, "held", false, "only work that waits for an operator's word")
}

func (f *keysFlags) filter() keyring.Filter {
	return keyring.Filter{Scope: f.scope, Operation: f.operation, Key: f.key, Expired: f.expired, Unfinished: f.unfinished, Held: f.held}
}

// check refuses operations that no row can have.
func (f *keysFlags) check() error {
	if f.operation != "" && !strings.Contains(f.operation, ".") {
		return &usageError{"--operation " + f.operation + " has no service", "keys are stored under service.Operation, like payments." + f.operation}
	}
	if f.held && f.expired {
		return &usageError{"--held and --expired exclude each other", "held work does not expire: leave --expired out"}
	}
	return nil
}

func (a *app) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Find, show and free the keys of a database",
		Long: `Looks into idem.keys. A key belongs to a scope and an operation; the same text in another scope
is another key. Lists and texts never hold an answer's body; "keys show --show-body" does.

A request that runs in one transaction holds its claim by that transaction, and leaves no row
until it ends: there is nothing to release. What is unfinished is work that commits in between.`,
		Args: a.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.keysList(), a.keysShow(), a.keysRelease(), a.keysPurge())
	return cmd
}

// ring opens the database of keys.
func (a *app) ring(cmd *cobra.Command, f *keysFlags) (*keyring.Ring, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f.plain = true
	pool, err := a.open(cmd.Context(), f.database)
	if err != nil {
		return nil, err
	}
	return &keyring.Ring{Pool: pool}, nil
}

// oneKey is the argument KEY together with a scope.
func (f *keysFlags) oneKey(args []string) error {
	if len(args) == 1 {
		f.key = args[0]
	}
	switch {
	case f.key == "":
		return &usageError{"no key is given", "idemgen keys list --scope SCOPE shows them; then: KEY --scope SCOPE"}
	case f.scope == "":
		return &usageError{"no scope is given", "the same key in another scope is another key: --scope SCOPE"}
	}
	return nil
}
