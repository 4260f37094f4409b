package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/files"
)

// watch generates at each change, until it is interrupted. Nothing that a run
// meets ends it, a bug of idemgen's neither.
func (a *app) watch(ctx context.Context, opts generator.Options) error {
	opts.Dir, opts.ConfigFile = a.dir, a.file
	first := true
	generator.Watch(ctx, opts, a.runWatched, func(result *generator.Result, err error) {
		if err != nil {
			a.code(err)
			a.say("idemgen: %s: not generated; waiting for a change", time.Now().Format(time.TimeOnly))
			return
		}
		a.diagnostics(result.Warnings)
		a.watched(result, opts.DryRun, first)
		first = false
	})
	return nil
}

// runWatched runs once; a panic is an error among others.
func (a *app) runWatched(ctx context.Context, opts generator.Options) (result *generator.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.bug(v)
			err = fmt.Errorf("this run has failed: %v", v)
		}
	}()
	return a.run(ctx, opts)
}

// watched says what a run did: all at the first time, then what changed.
func (a *app) watched(result *generator.Result, dryRun, first bool) {
	if first || a.format == "json" {
		_ = a.generated(result, dryRun) // a writer that is gone ends the process by its signal
	} else {
		for _, c := range result.Changes {
			if c.Action != files.Keep {
				a.print("%s", a.changed(c, dryRun))
			}
		}
	}
	if a.format == "text" {
		a.print("%s: up to date, %s; waiting for a change", time.Now().Format(time.TimeOnly), count(len(result.Operations), "operation"))
	}
}
