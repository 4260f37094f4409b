package idem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/schema"
)

// Ready fails if the runtime's tables are missing or of another version, or if
// the database has triggers or rules, made outside the migrations, that an
// operation's strategy does not allow for. Every pool is asked.
func (s *Service) Ready(ctx context.Context) error {
	return s.pools.each(func(p *pool) error { return s.ready(ctx, p) })
}

func (s *Service) ready(ctx context.Context, p *pool) error {
	version, err := queries(p).SchemaVersion(ctx)
	switch code := sqlState(err); {
	case code == "42883" || code == "3F000":
		return errors.New("idem: the runtime's tables are missing: run the migrations")
	case err != nil:
		return fmt.Errorf("idem: %w", err)
	case version != schema.Version:
		return fmt.Errorf("idem: the runtime's tables have version %d, this program needs %d", version, schema.Version)
	}
	return errors.Join(s.checkHooks(ctx, p), s.checkIntents(ctx, p))
}

// checkIntents finds the unique indexes that are missing or INVALID: without
// them a business intent holds nothing.
func (s *Service) checkIntents(ctx context.Context, p *pool) error {
	names := map[string]*Operation{}
	for _, op := range s.cfg.Operations {
		for _, step := range op.Steps {
			if step.Intent != nil {
				names[step.Intent.Table+" "+step.Intent.Constraint] = op
			}
		}
	}
	wanted := slices.Sorted(maps.Keys(names))
	found, err := queries(p).IntentIndexes(ctx, wanted)
	if err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	var all []error
	for _, name := range wanted {
		if !slices.Contains(found, name) {
			table, index, _ := strings.Cut(name, " ")
			all = append(all, fmt.Errorf("idem: operation %s: table %s has no valid unique index %s: run the migrations, or make the index anew",
				names[name].Name, table, index))
		}
	}
	return errors.Join(all...)
}

func (s *Service) checkHooks(ctx context.Context, p *pool) error {
	found, err := queries(p).HookedTables(ctx, s.writtenTables())
	if err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	var all []error
	for _, op := range s.cfg.Operations {
		for _, table := range found {
			if hook := disallowed(op, table); hook != "" {
				all = append(all, fmt.Errorf("idem: operation %s is %s, but table %s has a %s that is not in the migrations",
					op.Name, op.Strategy, table.Name, hook))
			}
		}
	}
	return errors.Join(all...)
}

// disallowed names what of the table the operation's strategy does not allow.
func disallowed(op *Operation, table gen.HookedTablesRow) string {
	gated := op.Strategy == Fused || op.Strategy == Verbatim
	if !gated || !slices.Contains(op.Steps[0].Writes, table.Name) {
		return ""
	}
	switch {
	case table.HasRule:
		return "rule"
	case table.HasTrigger && op.Strategy == Fused:
		return "statement-level trigger"
	}
	return ""
}

func (s *Service) writtenTables() []string {
	var tables []string
	for _, op := range s.cfg.Operations {
		for _, step := range op.Steps {
			tables = append(tables, step.Writes...)
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}
