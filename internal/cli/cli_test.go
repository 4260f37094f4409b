package cli

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// exec runs a command line in this process.
func exec(t *testing.T, env Env, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env.Args = args
	if env.Stdout == nil {
		env.Stdout = &out
	}
	env.Stderr = &errs
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	code = Main(context.Background(), env)
	return code, out.String(), errs.String()
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("the disk is on fire") }

func TestPanicIsReportedAsABug(t *testing.T) {
	code, _, stderr := exec(t, Env{Stdout: panicking{}}, "version")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"this is a bug in idemgen: the disk is on fire", "github.com/idemgen/idemgen/issues", "goroutine", "idemgen 0."} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
}

func TestColors(t *testing.T) {
	for _, c := range []struct {
		flag     string
		terminal bool
		noColor  string
		want     bool
	}{
		{"auto", true, "", true},
		{"auto", false, "", false},
		{"auto", true, "1", false},
		{"always", false, "1", true},
		{"never", true, "", false},
	} {
		a := &app{color: c.flag, env: Env{Terminal: c.terminal, Getenv: func(string) string { return c.noColor }}}
		if a.colored() != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestWorkflowCommandEscapes(t *testing.T) {
	a := &app{dir: "sub"}
	got := a.workflowCommand(diag.Diagnostic{Code: "IDEM001", Severity: diag.Warning, Pos: diag.Pos{File: "a,b:c.sql", Line: 2}, Message: "100%\nsure", Hint: "none"})
	want := "::warning file=sub/a%2Cb%3Ac.sql,line=2,title=IDEM001::100%25%0Asure%0Ahint: none"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, name := range []string{"generate", "verify", "lint", "review", "plan", "init", "keys list", "keys show", "keys release", "keys purge", "outbox list", "outbox show", "outbox retry", "outbox discard", "eject", "sweep", "doctor", "schema", "explain", "version", "completion"} {
		code, stdout, stderr := exec(t, Env{}, append(strings.Fields(name), "--help")...)
		if code != exitOK || !strings.Contains(stdout, "Usage:") || stderr != "" {
			t.Errorf("%s --help: %d\n%s%s", name, code, stdout, stderr)
		}
	}
}

func TestHelpOfWhatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"help"}, exitOK, "Available Commands"},
		{[]string{"help", "keys", "list"}, exitOK, "idemgen keys list"},
		{[]string{"help", "genrate"}, exitFailed, "did you mean generate?"},
		{[]string{"help", "keys", "lst"}, exitFailed, "did you mean list?"},
		{[]string{"completion"}, exitFailed, "use one of: bash"},
		{[]string{"completion", "bash"}, exitOK, "__start_idemgen"},
		{[]string{"completion", "fich"}, exitFailed, "did you mean fish?"},
	} {
		code, stdout, stderr := exec(t, Env{}, c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%v: %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}

// lockedBuffer is written by a progress line and read by a test.
type lockedBuffer struct {
	mu  sync.Mutex
	b   bytes.Buffer
	any chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.any <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

// TestProgressLineIsGoneAtTheEnd: on a terminal only, and its last word erases it.
func TestProgressLineIsGoneAtTheEnd(t *testing.T) {
	out := &lockedBuffer{any: make(chan struct{}, 1)}
	a := &app{format: "text", env: Env{Stderr: out, Terminal: true}}
	end := a.progress("working")
	<-out.any
	end()
	end()
	if got := out.b.String(); !strings.HasPrefix(got, "\r\x1b[Kidemgen: working … 1s") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}
