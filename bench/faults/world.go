package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/idemgen/idemgen/bench/faults/history"
	"github.com/idemgen/idemgen/bench/faults/wire"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// setting is what a world is made of, beside what all have.
type setting struct {
	program string // the service; "": this program
	pooled  bool   // PgBouncer is between proxy and server
	small   bool   // the server's files are on a small file system of their own
}

// world is a service with all that is around it. One goroutine breaks it.
type world struct {
	setting
	dir      string // removed at the end
	cluster  *cluster
	standby  *cluster
	bouncer  *pgserver.Bouncer
	proxy    *wire.Proxy
	receiver *receiver
	service  atomic.Pointer[process]
	recorder *history.Recorder
	unmount  func() error
}

func newWorld(ctx context.Context, s setting) (w *world, err error) {
	w = &world{setting: s, recorder: history.NewRecorder()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.dir, err = os.MkdirTemp("", "idemgen-faults-"); err != nil {
		return w, err
	}
	if err = os.Chmod(w.dir, 0o711); err != nil { // the server may run as another user
		return w, err
	}
	if w.receiver, err = startReceiver(); err != nil {
		return w, err
	}
	if w.program == "" {
		if w.program, err = os.Executable(); err != nil {
			return w, err
		}
	}
	if err = w.startDatabase(ctx); err != nil {
		return w, err
	}
	return w, w.startService()
}

func (w *world) startDatabase(ctx context.Context) (err error) {
	dir := filepath.Join(w.dir, "primary")
	if w.small {
		if w.unmount, err = mountSmall(dir); err != nil {
			return err
		}
	}
	if w.cluster, err = startCluster(ctx, dir); err != nil {
		return err
	}
	upstream := w.cluster.address()
	if w.pooled {
		if err = w.startBouncer(ctx); err != nil {
			return err
		}
		upstream = addressOf(w.bouncer.URL())
	}
	w.proxy, err = wire.Listen(upstream)
	return err
}

func (w *world) startBouncer(ctx context.Context) (err error) {
	w.bouncer, err = pgserver.StartBouncer(ctx, w.cluster.server.URL(), 8)
	return err
}

// startService starts the service's process, whose database is behind the proxy.
func (w *world) startService() error {
	url := w.cluster.server.URL()
	if w.bouncer != nil {
		url = w.bouncer.URL()
	}
	url = strings.Replace(url, addressOf(url), w.proxy.Address(), 1)
	p, err := startProcess(w.program, url, w.receiver.url(), filepath.Join(w.dir, "service.log"))
	if err != nil {
		return err
	}
	w.service.Store(p)
	return nil
}

// restartCluster starts the server after a crash. Its port is another one.
func (w *world) restartCluster(ctx context.Context) error {
	if err := w.cluster.start(ctx); err != nil {
		return err
	}
	w.proxy.SetUpstream(w.cluster.address())
	return nil
}

// close ends everything, what is broken as well.
func (w *world) close() (err error) {
	if p := w.service.Load(); p != nil {
		p.kill()
	}
	if w.proxy != nil {
		err = errors.Join(err, w.proxy.Close())
	}
	if w.bouncer != nil {
		err = errors.Join(err, w.bouncer.Stop())
	}
	for _, c := range []*cluster{w.standby, w.cluster} {
		if c != nil && c.server != nil {
			err = errors.Join(err, c.crash())
		}
	}
	if w.receiver != nil {
		err = errors.Join(err, w.receiver.stop())
	}
	if w.unmount != nil {
		err = errors.Join(err, w.unmount())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// joinStop is an error together with that of cleaning up behind it.
func joinStop(err error, stop func() error) error { return errors.Join(err, stop()) }

// effects are what the database and the receiver have.
func (w *world) effects(ctx context.Context) ([]history.Effect, error) {
	effects := w.receiver.effects()
	for _, table := range []string{placeEffects, placeLines} {
		rows, err := w.cluster.count(ctx, table)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", table, err)
		}
		effects = append(effects, rows...)
	}
	return effects, nil
}
