package cli

import (
	"fmt"
	"sync"
	"time"
)

// Work is silent for this long, and its line then changes this often.
const (
	progressAfter = time.Second
	progressEvery = time.Second
)

// progress shows on a terminal what takes more than a second, in one line that is
// gone when the returned function is called. Elsewhere it shows nothing.
func (a *app) progress(what string) (end func()) {
	if !a.env.Terminal || a.quiet || a.format != "text" {
		return func() {}
	}
	p := &progressLine{app: a, what: what, begin: time.Now(), over: make(chan struct{})}
	p.ended.Go(p.run)
	return sync.OnceFunc(func() {
		close(p.over)
		p.ended.Wait()
	})
}

type progressLine struct {
	app   *app
	what  string
	begin time.Time
	over  chan struct{}
	ended sync.WaitGroup
}

func (p *progressLine) run() {
	timer := time.NewTimer(progressAfter)
	defer timer.Stop()
	for shown := false; ; shown = true {
		select {
		case <-p.over:
			if shown {
				fmt.Fprint(p.app.env.Stderr, "\r\x1b[K")
			}
			return
		case <-timer.C:
			fmt.Fprintf(p.app.env.Stderr, "\r\x1b[Kidemgen: %s … %s", p.what, time.Since(p.begin).Round(time.Second))
			timer.Reset(progressEvery)
		}
	}
}
