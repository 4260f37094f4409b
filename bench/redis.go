package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer is a private Redis that keeps everything in memory and nothing on
// disk: the fastest that Redis is. It ends with this process, however that ends.
type redisServer struct {
	address string
	version string
	dir     string
	alive   io.Closer // open as long as the server is wanted
	cmd     *exec.Cmd
}

// errNoRedis says what to do where Redis can't be compared.
var errNoRedis = errors.New("redis-server is not installed (Debian: apt-get install redis-server)")

// redisKeeper stands between us and the server: when the pipe to it closes, it ends
// the server.
const redisKeeper = `"$@" </dev/null & cat >/dev/null; kill $!; wait`

// startRedis starts the installed redis-server on a free port of the loopback address.
func startRedis(ctx context.Context) (*redisServer, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNoRedis
	}
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("redis-server --version: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idemgen-bench-redis-")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	s := &redisServer{address: address, version: redisVersion(string(version)), dir: dir}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", redisKeeper, "sh",
		program, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "no")
	if s.alive, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redis-server: %w", err), s.stop())
	}
	return s, nil
}

func (s *redisServer) stop() error {
	err := s.alive.Close()
	_ = s.cmd.Wait() // how a server ends that is no longer wanted doesn't matter
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *redisServer) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1})
	defer client.Close() //nolint:errcheck // the server is asked, not kept
	for {
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// redisVersion is 7.0.15 of "Redis server v=7.0.15 sha=…".
func redisVersion(text string) string {
	for _, word := range strings.Fields(text) {
		if version, ok := strings.CutPrefix(word, "v="); ok {
			return version
		}
	}
	return ""
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
