package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Go asks the kernel for the time, past what a library put in front of a program
// could change. So the service is built with a time package whose wall clock can
// be stepped; its monotonic clock, as a real one, takes no part in steps.

const (
	clockTag  = "faultclock"
	clockNow  = "func Now() Time {\n"
	clockCall = "sec, nsec, mono := now()\n"
)

// buildStepped builds this program so that POST /clock?by=1h steps the clock of
// its service.
func buildStepped(ctx context.Context, dir string) (program string, err error) {
	root := runtime.GOROOT()
	if out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output(); err == nil {
		root = strings.TrimSpace(string(out))
	}
	original := filepath.Join(root, "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	stepped, err := steppedTime(string(text))
	if err != nil {
		return "", err
	}
	replaced, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: replaced}})
	if err != nil {
		return "", err
	}
	for name, content := range map[string]string{replaced: stepped, overlay: string(list)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	program = filepath.Join(dir, "stepped")
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-tags", clockTag, "-o", program,
		"github.com/idemgen/idemgen/bench/faults")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build a service whose clock can be stepped: %w: %s", err, out)
	}
	return program, nil
}

// steppedTime is the source of package time with a step added to the wall clock.
func steppedTime(source string) (string, error) {
	at := strings.Index(source, clockNow)
	if at < 0 || !strings.Contains(source[at:], clockCall) {
		return "", fmt.Errorf("time.Now of %s is written in another way", runtime.Version())
	}
	call := at + strings.Index(source[at:], clockCall) + len(clockCall)
	return source[:call] + "\tsec += Step.Load()\n" + source[call:] +
		"\n// Step is added to the wall clock, in seconds.\nvar Step stepSeconds\n" + stepSeconds, nil
}

// Package time can import no atomics under a name that its file does not import.
const stepSeconds = `
type stepSeconds struct {
	mu sync.RWMutex
	s  int64
}

func (x *stepSeconds) Load() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.s
}

func (x *stepSeconds) Store(s int64) {
	x.mu.Lock()
	x.s = s
	x.mu.Unlock()
}
`

// stepBy steps the clock of a service to so much off the true time.
func (w *world) stepBy(ctx context.Context, by time.Duration) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.service.Load().url+"/clock?by="+by.String(), nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // nothing is read
	if res.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the clock can't be stepped: %d", res.StatusCode)
	}
	return nil
}
