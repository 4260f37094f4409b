package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// growing is what a command has written so far; waiters see it grow.
type growing struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, err := g.text.Write(p)
	select {
	case g.grown <- struct{}{}:
	default:
	}
	return n, err
}

// await waits until the text has this often what is wanted.
func (g *growing) await(t *testing.T, want string, times int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		g.mu.Lock()
		text := g.text.String()
		g.mu.Unlock()
		if strings.Count(text, want) >= times {
			return
		}
		select {
		case <-g.grown:
		case <-limit:
			t.Fatalf("%q is not there %d times:\n%s", want, times, text)
		}
	}
}

// TestWatchReportsEachErrorAndGoesOn: one error, then another, then no folder at
// all; an interrupt ends it with 0.
func TestWatchReportsEachErrorAndGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "service")
	config := filepath.Join(dir, "idemgen.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("version: 1\noutt: x\n")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &growing{grown: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, Env{Args: []string{"generate", "--watch", "-C", dir}, Stdout: io.Discard, Stderr: stderr, Getenv: func(string) string { return "" }})
	}()
	stderr.await(t, `unknown key "outt"`, 1)
	stderr.await(t, "not generated; waiting for a change", 1)
	write("version: 77\n")
	stderr.await(t, "77", 1)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	stderr.await(t, "no such file or directory", 1)
	write("version: 1\nouttt: x\n")
	stderr.await(t, `unknown key "outtt"`, 1)
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
