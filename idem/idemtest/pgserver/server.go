// Package pgserver runs a private PostgreSQL server from installed binaries, or
// from downloaded ones where there are none. It is meant for tests and for
// trying things out, on Unix systems, as root too.
package pgserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server. It listens on a free port of the loopback
// address. It ends with this process, however that ends.
type Server struct {
	url    string
	alive  io.Closer // open as long as the server is wanted
	exited chan struct{}
}

// Start starts a server with its data in dir, which is made if missing and kept.
// With an empty dir the data is in a temporary folder, on Linux one in memory where
// there are 2 GB of room and TMPDIR is not set, is not synced to disk, and
// is gone after Stop.
func Start(ctx context.Context, dir string) (*Server, error) {
	temporary := dir == ""
	if temporary {
		made, err := makeTemporary()
		if err != nil {
			return nil, err
		}
		dir = made
	}
	server, err := start(ctx, dir, temporary)
	if err != nil && temporary {
		os.RemoveAll(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("private PostgreSQL: %w", err)
	}
	return server, nil
}

// URL is where the server is, for the user postgres and database postgres.
func (s *Server) URL() string { return s.url }

// Stop ends the server and waits for its end.
func (s *Server) Stop() error {
	err := s.alive.Close()
	<-s.exited
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

func start(ctx context.Context, dir string, temporary bool) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	run, err := newRunner(dir)
	if err != nil {
		return nil, err
	}
	bin, err := binaries(run, dir)
	if err != nil {
		return nil, err
	}
	password, err := initialize(ctx, run, bin, dir)
	if err != nil {
		return nil, err
	}
	return launchOnFreePort(ctx, run, bin, dir, password, temporary)
}

// initialize makes the data folder once, and returns the password.
func initialize(ctx context.Context, run *runner, bin, dir string) (string, error) {
	file := filepath.Join(dir, "password")
	if password, err := os.ReadFile(file); err == nil {
		return string(password), nil
	}
	password := rand.Text()
	if err := run.writeFile(file, password); err != nil {
		return "", err
	}
	out, err := run.command(ctx, filepath.Join(bin, "initdb"), "--pgdata", filepath.Join(dir, "data"),
		"--username=postgres", "--pwfile", file, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		os.Remove(file)
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return password, nil
}

// A free port can be taken by another process before the server has it.
const portTries = 3

func launchOnFreePort(ctx context.Context, run *runner, bin, dir, password string, temporary bool) (*Server, error) {
	var last error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		server, err := launch(ctx, run, bin, dir, port, temporary)
		if err == nil {
			server.url = fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", password, port)
			if err = server.awaitReady(ctx); err == nil {
				return server, nil
			}
			server.Stop()
		}
		last = errors.Join(err, lastLines(filepath.Join(dir, "log")))
		if temporary || ctx.Err() != nil {
			break // the folder is gone
		}
	}
	return nil, last
}

// The shell stays between us and the server: when the pipe to it closes, also
// because this process was killed, it ends the server by a signal, and removes
// the folder if one is given.
const keeper = `exec 3<&0 </dev/null
dir=$1; signal=$2; shift 2
"$@" 3<&- & server=$!
(cat <&3; kill -$signal $server) >/dev/null 2>&1 & watch=$!
wait $server
kill $watch
test -z "$dir" || rm -rf "$dir"`

func launch(ctx context.Context, run *runner, bin, dir string, port int, temporary bool) (*Server, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"-c", keeper, "sh", "", "INT", filepath.Join(bin, "postgres"),
		"-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	if temporary {
		args[3] = dir
		// As many tests as there are processors may run beside each other, each
		// with pools of its own.
		args = append(args, "-c", "max_connections=500", "-c", "fsync=off", "-c", "full_page_writes=off")
	} else {
		args = append(args, "-c", "max_connections=200")
	}
	// Not bound to ctx: the server outlives the start.
	cmd := run.command(context.WithoutCancel(ctx), "/bin/sh", args...)
	cmd.Stdout, cmd.Stderr = log, log
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	server := &Server{alive: alive, exited: make(chan struct{})}
	go server.wait(cmd)
	return server, nil
}

func (s *Server) wait(cmd *exec.Cmd) {
	defer close(s.exited)
	_ = cmd.Wait() // how a server ends that is no longer wanted doesn't matter
}

// awaitReady returns when the server takes connections.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.exited:
			return errors.New("the server ended at once")
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func lastLines(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return errors.New(strings.Join(lines[max(0, len(lines)-5):], "\n"))
}
