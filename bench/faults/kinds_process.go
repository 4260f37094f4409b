package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
)

// terminate ends a backend that is at work.
func terminate(ctx context.Context, f *injection) error {
	const one = `SELECT count(pg_terminate_backend(pid))::text FROM (
		SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
		ORDER BY random() LIMIT 1) AS busy`
	return f.w.cluster.until(ctx, one, "1")
}

func killService(_ context.Context, f *injection) error {
	f.w.service.Load().kill()
	return f.w.startService()
}

func crashServer(ctx context.Context, f *injection) error {
	if err := f.w.cluster.crash(); err != nil {
		return err
	}
	return f.w.restartCluster(ctx)
}

func restartBouncer(ctx context.Context, f *injection) error {
	if err := f.w.bouncer.Stop(); err != nil {
		return err
	}
	if err := f.w.startBouncer(ctx); err != nil {
		return err
	}
	f.w.proxy.SetUpstream(addressOf(f.w.bouncer.URL()))
	return nil
}

// losePrimary gives the primary a synchronous standby, lets requests be
// acknowledged, and loses the primary with all its files.
func losePrimary(ctx context.Context, f *injection) error {
	if err := f.w.addStandby(ctx, f.number); err != nil {
		return err
	}
	if err := f.progress(ctx, 100); err != nil {
		return err
	}
	if err := f.w.cluster.crash(); err != nil {
		return err
	}
	return f.w.promote(ctx)
}

// progress waits for requests that return.
func (f *injection) progress(ctx context.Context, requests int) error {
	return await(ctx, f.w.recorder.More(requests), fmt.Sprintf("%d requests that return", requests))
}

// await waits for something, with patience.
func await(ctx context.Context, happened <-chan struct{}, what string) error {
	select {
	case <-happened:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("no %s in %s", what, patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fillDisk fills the server's disk until requests fail of it. A server that ended
// of it is started again when there is room.
func fillDisk(ctx context.Context, f *injection) error {
	free, err := f.w.cluster.fill()
	if err != nil {
		return err
	}
	failed := f.w.recorder.MoreThat(50, func(q history.Request) bool { return q.Status == http.StatusServiceUnavailable })
	err = await(ctx, failed, "50 requests that fail of a full disk")
	if err := errors.Join(err, free()); err != nil {
		return err
	}
	if _, err := f.w.cluster.ask(ctx, "SELECT 'up'"); err == nil {
		return nil
	}
	return crashServer(ctx, f)
}

// moveClock steps the clock of the service back or forth.
func moveClock(ctx context.Context, f *injection) error {
	const day = 24 * time.Hour
	steps := []time.Duration{time.Second, time.Minute, time.Hour, day, 40 * day, 10 * 365 * day}
	by := steps[f.random.IntN(len(steps))]
	if f.random.IntN(2) == 0 {
		by = -by
	}
	return f.w.stepBy(ctx, by)
}
