package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// baseBackup is the program that copies a running server; "" where there is none.
func baseBackup() string {
	if found, err := exec.LookPath("pg_basebackup"); err == nil {
		return found
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_basebackup") // the pattern is well formed
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// copyTo makes a standby of the server in a new folder, and starts it.
func (c *cluster) copyTo(ctx context.Context, dir string) (*cluster, error) {
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, baseBackup(), "--pgdata", data, "--dbname", c.server.URL(),
		"--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	if err := ownedLike(filepath.Join(c.dir, "data"), data); err != nil {
		return nil, err
	}
	password, err := os.ReadFile(filepath.Join(c.dir, "password")) // of pgserver: a folder with it is not initialized
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "password"), password, 0o600)
	}
	if err != nil {
		return nil, err
	}
	standby := &cluster{dir: dir}
	return standby, standby.start(ctx)
}

// ownedLike gives a folder, and all that is in it, to the owner of another one.
func ownedLike(model, dir string) error {
	info, err := os.Stat(model)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, int(owner.Uid), int(owner.Gid)))
	})
}

// addStandby gives the primary a synchronous standby: from then on no commit is
// acknowledged that the standby does not have.
func (w *world) addStandby(ctx context.Context, number int) (err error) {
	w.standby, err = w.cluster.copyTo(ctx, filepath.Join(w.dir, fmt.Sprintf("standby-%d", number)))
	if err != nil {
		return err
	}
	err = w.cluster.execute(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	if err != nil {
		return err
	}
	return w.cluster.until(ctx, "SELECT count(*)::text FROM pg_stat_replication WHERE sync_state = 'sync'", "1")
}

// promote lets the standby be the primary. The old one must be gone.
func (w *world) promote(ctx context.Context) error {
	old := w.cluster
	if err := w.standby.execute(ctx, "SELECT pg_promote()"); err != nil {
		return err
	}
	w.cluster, w.standby = w.standby, nil
	w.proxy.SetUpstream(w.cluster.address())
	return os.RemoveAll(old.dir)
}

// until asks until the answer is the wanted one, for a minute.
func (c *cluster) until(ctx context.Context, query, want string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		got, err := c.ask(ctx, query)
		if err == nil && got == want {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s: %q, not %q: %w", query, got, want, errors.Join(err, ctx.Err()))
		}
	}
}
