package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer is a running PgBouncer that gives out server connections for one
// transaction each. It listens on a free port of the loopback address, and ends
// with this process, however that ends.
type Bouncer struct {
	url    string
	dir    string
	alive  io.Closer // open as long as it is wanted
	exited chan struct{}
}

// BouncerInstalled reports whether StartBouncer finds the program.
func BouncerInstalled() bool {
	_, err := bouncerProgram()
	return err == nil
}

// StartBouncer starts the installed pgbouncer in transaction mode in front of the
// database at a URL, with at most connections server connections. Who connects
// to it needs no password.
func StartBouncer(ctx context.Context, at string, connections int) (*Bouncer, error) {
	program, err := bouncerProgram()
	if err != nil {
		return nil, err
	}
	target, err := pgx.ParseConfig(at)
	if err != nil {
		return nil, fmt.Errorf("PgBouncer: the database behind it: %w", err)
	}
	var last error
	for range portTries {
		b, err := startBouncer(ctx, program, target, connections)
		if err == nil {
			return b, nil
		}
		last = err
	}
	return nil, fmt.Errorf("PgBouncer: %w", last)
}

// URL is where the database is, through the pooler.
func (b *Bouncer) URL() string { return b.url }

// Stop ends the pooler at once and waits for its end.
func (b *Bouncer) Stop() error {
	err := b.alive.Close()
	<-b.exited
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

// Debian installs it where not every PATH leads.
func bouncerProgram() (string, error) {
	if found, err := exec.LookPath("pgbouncer"); err == nil {
		return found, nil
	}
	return exec.LookPath("/usr/sbin/pgbouncer")
}

// bounceConfig lets everybody in: the pooler has the password of the server.
const bounceConfig = `[databases]
pooled = host=%s port=%d dbname=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
`

func startBouncer(ctx context.Context, program string, target *pgx.ConnConfig, connections int) (*Bouncer, error) {
	dir, err := os.MkdirTemp("", "pgbouncer-")
	if err != nil {
		return nil, err
	}
	b := &Bouncer{dir: dir, exited: make(chan struct{})}
	if err := b.launch(ctx, program, target, connections); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := b.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, lastLines(filepath.Join(dir, "log")), b.Stop())
	}
	return b, nil
}

func (b *Bouncer) launch(ctx context.Context, program string, target *pgx.ConnConfig, connections int) error {
	run, err := newRunner(b.dir)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	config := filepath.Join(b.dir, "pgbouncer.ini")
	text := fmt.Sprintf(bounceConfig, iniValue(target.Host), target.Port, iniValue(target.Database),
		iniValue(target.User), iniValue(target.Password), port, connections)
	if err := run.writeFile(config, text); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(b.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// TERM: at once. INT would wait for its clients.
	cmd := run.command(context.WithoutCancel(ctx), "/bin/sh", "-c", keeper, "sh", b.dir, "TERM", program, config)
	cmd.Stdout, cmd.Stderr = log, log
	if b.alive, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(b.exited)
		_ = cmd.Wait() // how it ends that is no longer wanted doesn't matter
	}()
	b.url = fmt.Sprintf("postgres://pooled@127.0.0.1:%d/pooled?sslmode=disable&default_query_exec_mode=exec", port)
	return nil
}

// iniValue quotes a value of a connection line.
func iniValue(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (b *Bouncer) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, b.url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-b.exited:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
