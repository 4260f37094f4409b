package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Go asks the kernel for the time, past what a library put in front of a program
// could change. So the service is built with a time package whose wall clock can
// be stepped; its monotonic clock, as a real one, takes no part in steps.

const clockTag = "faultclock"

// How package time begins its imports, and reads the wall clock in Now.
const clockImports = "import (\n"

var clockRead = regexp.MustCompile(`(?s)\nfunc Now\(\) Time \{\n\tsec, nsec, mono := \w+\(\)\n`)

// buildStepped builds this program so that POST /clock?by=1h steps the clock of
// its service.
func buildStepped(ctx context.Context, dir string) (program string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
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
	read := clockRead.FindString(source)
	if read == "" || !strings.Contains(source, clockImports) {
		return "", errors.New("the time.Now of this version of Go is written in another way")
	}
	source = strings.Replace(source, clockImports, clockImports+"\t\"sync/atomic\"\n", 1)
	source = strings.Replace(source, read, read+"\tsec += Step.Load()\n", 1)
	return source + "\n// Step is added to the wall clock, in seconds.\nvar Step atomic.Int64\n", nil
}

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
