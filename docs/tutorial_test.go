package docs_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// TestTheTutorialWorks does what docs/tutorial.md says, block by block: writes its
// files, runs its commands, starts its services, and compares what they answer.
func TestTheTutorialWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("generates and builds a service several times")
	}
	page := readPage(t, "tutorial.md")
	lines := strings.Split(page.text, "\n")
	r := newReader(t)
	written, compared := 0, 0
	for _, b := range page.blocks {
		place := fmt.Sprintf("tutorial.md:%d", b.line)
		before := lines[b.line-3] // above the fence
		switch b.info {
		case "sql":
			r.write(place, before, b.text)
			written++
		case "sh":
			r.run(place, b.text)
		default:
			r.compare(place, b.text)
			compared++
		}
	}
	if written < 3 || compared < 8 {
		t.Errorf("%d files written, %d answers compared", written, compared)
	}
}

// reader is a person who does what the page says.
type reader struct {
	t       *testing.T
	root    string // the checkout
	dir     string // where the shell is
	env     []string
	addr    string
	db      string
	said    string // by the last commands
	serving *exec.Cmd
}

func newReader(t *testing.T) *reader {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	r := &reader{t: t, root: root, dir: t.TempDir(), addr: addr, db: idemtest.URL(t, "DROP SCHEMA idem CASCADE")}
	r.env = append(os.Environ(), "ADDR="+addr, "GOFLAGS=-buildvcs=false", "NO_COLOR=1", "DATABASE_URL=", "TUTORIAL="+r.dir, "CHECKOUT="+root)
	t.Cleanup(r.stop)
	return r
}

var (
	fileMark = regexp.MustCompile(`^<!-- (file|append): (\S+) -->$`)
	serves   = regexp.MustCompile(`^(go run -tags dev \.|\./desk)$`)
)

// write makes the file that the comment above a block names, or adds to it.
func (r *reader) write(place, mark, text string) {
	r.t.Helper()
	m := fileMark.FindStringSubmatch(mark)
	if m == nil {
		r.t.Fatalf("%s: no comment says which file this is", place)
	}
	path, old := filepath.Join(r.dir, m[2]), []byte(nil)
	if m[1] == "append" {
		var err error
		if old, err = os.ReadFile(path); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, append(old, text...), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// run runs the commands of a block. One that serves ends the service before it, and
// goes on in the background.
func (r *reader) run(place, text string) {
	r.t.Helper()
	var commands []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch {
		case strings.HasPrefix(line, "git clone "):
		case line == "cd idemgen":
			commands = append(commands, `cd "$CHECKOUT"`)
		case strings.HasPrefix(line, "export DATABASE_URL="):
			r.env = append(r.env, "DATABASE_URL="+r.db)
		case serves.MatchString(line):
			r.shell(place, commands)
			commands = nil
			r.serve(place, line)
		default:
			line = strings.ReplaceAll(line, "localhost:8080", r.addr)
			commands = append(commands, strings.ReplaceAll(line, "../desk", `"$TUTORIAL/desk"`))
		}
	}
	r.shell(place, commands)
}

// shell runs commands where the ones before them have ended.
func (r *reader) shell(place string, commands []string) {
	r.t.Helper()
	if len(commands) == 0 {
		return
	}
	where := filepath.Join(r.t.TempDir(), "where")
	script := strings.Join(commands, "\n") + "\npwd > " + where + "\n"
	cmd := exec.CommandContext(r.t.Context(), "bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.dir, r.env
	if r.inCheckout() { // the checkout's own workspace is of no use elsewhere
		cmd.Env = append(cmd.Env, "GOWORK=")
	} else {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s\n%s", place, err, script, out)
	}
	r.said = strings.ReplaceAll(string(out), "\r", "")
	dir, err := os.ReadFile(where)
	if err != nil {
		r.t.Fatal(err)
	}
	r.dir = strings.TrimSpace(string(dir))
}

func (r *reader) inCheckout() bool { return !strings.HasSuffix(r.dir, "/desk") }

// serve builds what a command runs, starts it, and waits until it says that it serves.
func (r *reader) serve(place, command string) {
	r.t.Helper()
	r.stop()
	program := filepath.Join(r.dir, "desk")
	if strings.HasPrefix(command, "go run ") {
		program = filepath.Join(r.t.TempDir(), "desk")
		flags := strings.TrimSuffix(strings.TrimPrefix(command, "go run "), ".")
		r.shell(place, []string{"go build " + flags + " -o " + program + " ."})
	}
	log := &lines{ready: make(chan struct{})}
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.env, log, log
	if err := cmd.Start(); err != nil {
		r.t.Fatalf("%s: %v", place, err)
	}
	r.serving = cmd
	select {
	case <-log.ready:
	case <-time.After(time.Minute):
		r.t.Fatalf("%s: it does not serve:\n%s", place, log)
	}
}

// stop ends the service as Ctrl-C does, which must be no error.
func (r *reader) stop() {
	if r.serving == nil {
		return
	}
	if err := r.serving.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Error(err)
	}
	if err := r.serving.Wait(); err != nil {
		r.t.Errorf("the service ends with %v", err)
	}
	r.serving = nil
}

// compare looks for the lines of a block in what was said, in their order; "…" is
// anything.
func (r *reader) compare(place, text string) {
	r.t.Helper()
	rest := strings.Split(r.said, "\n")
	for _, want := range strings.Split(strings.TrimSpace(text), "\n") {
		if want == "" {
			continue
		}
		parts := strings.Split(want, "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		pattern := regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
		i := 0
		for i < len(rest) && !pattern.MatchString(rest[i]) {
			i++
		}
		if i == len(rest) {
			r.t.Errorf("%s: what was said has no line (in this place) like\n%s\nbut is\n%s", place, want, r.said)
			return
		}
		rest = rest[i+1:]
	}
}

// lines is a log that tells when a service is ready. It is safe for concurrent use.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan struct{}
	told  bool
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.text.Write(p)
	if !l.told && strings.Contains(l.text.String(), "serving") {
		l.told = true
		close(l.ready)
	}
	return n, err
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
