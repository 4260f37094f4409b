package generator

import (
	"context"
	"time"
)

// How often the inputs are looked at, and how long they must rest before a run:
// an editor writes a file in several steps. Looking costs one stat per input.
const (
	watchEvery  = 80 * time.Millisecond
	watchAtMost = 600 * time.Millisecond // of waiting for rest
)

// Watch runs once, and again whenever an input changes, until ctx ends. Each
// run's result and error go to each. No error ends it: files and folders may be
// half-written, or gone for a while. The inputs are looked at, not subscribed to:
// that works on every file system, and a folder that was removed and made again
// is nothing special.
func Watch(ctx context.Context, opts Options, run func(context.Context, Options) (*Result, error), each func(*Result, error)) {
	w := &watcher{opts: opts}
	for ctx.Err() == nil {
		result, err := w.once(ctx, run)
		if ctx.Err() != nil {
			return
		}
		each(result, err)
		w.wait(ctx)
	}
}

type watcher struct {
	opts Options
	in   inputs
	seen snapshot
}

// once looks, and runs. What the run writes itself counts as seen; what others
// change meanwhile does not.
func (w *watcher) once(ctx context.Context, run func(context.Context, Options) (*Result, error)) (*Result, error) {
	w.in = inputsOf(w.opts, w.in)
	w.seen = w.in.look(w.opts.Dir)
	result, err := run(ctx, w.opts)
	if !w.opts.DryRun {
		w.seen.written(result, w.in.look(w.opts.Dir))
	}
	return result, err
}

// wait returns once the inputs have changed and rest, or ctx has ended.
func (w *watcher) wait(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var last snapshot
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := w.in.look(w.opts.Dir)
		switch {
		case now.equal(w.seen):
			last = nil // changed and changed back
		case last == nil:
			last, since = now, time.Now()
		case now.equal(last) || time.Since(since) > watchAtMost:
			return
		default:
			last = now
		}
	}
}
