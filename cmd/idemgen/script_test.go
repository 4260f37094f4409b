package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idemgen/idemgen/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"idemgen": func() {
		os.Exit(cli.Main(context.Background(), cli.Env{Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}))
	}})
}

// TestScripts runs the command line in fresh modules, with the real sqlc.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc and the Go command")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               func(env *testscript.Env) error { return setup(env, root) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"snapshot":  snapshot,
			"unchanged": unchanged,
			"code":      code,
		},
	})
}

// setup gives a script the Go command with this machine's caches, the
// checkout, and the shared inputs of testdata/shop.
func setup(env *testscript.Env, root string) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return err
	}
	for i, value := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		env.Setenv(names[i], value)
	}
	env.Setenv("GOFLAGS", "-mod=mod -buildvcs=false")
	env.Setenv("GOWORK", "off")
	env.Setenv("CHECKOUT", root)
	env.Values[snapshotsKey{}] = map[string]map[string]stamp{}
	shop := os.DirFS(filepath.Join(root, "cmd", "idemgen", "testdata", "shop"))
	return os.CopyFS(filepath.Join(env.WorkDir, "shop"), shop)
}

// snapshotsKey finds the snapshots of a script in its values.
type snapshotsKey struct{}

func snapshots(ts *testscript.TestScript) map[string]map[string]stamp {
	return ts.Value(snapshotsKey{}).(map[string]map[string]stamp)
}

// stamp is a file's content and time.
type stamp struct {
	text string
	time time.Time
}

// snapshot NAME remembers every file of the current folder.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot NAME")
	}
	// Any rewrite from here on gets another time than this one.
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for p := range stamps(ts) {
		ts.Check(os.Chtimes(p, old, old))
	}
	snapshots(ts)[args[0]] = stamps(ts)
}

// unchanged NAME [but FILE …] fails if a file has another content or time than
// in the snapshot, is new or gone. Those after "but" must differ.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 1 && args[1] != "but" {
		ts.Fatalf("usage: unchanged NAME [but FILE ...]")
	}
	before, after := snapshots(ts)[args[0]], stamps(ts)
	var but []string
	for _, p := range args[min(2, len(args)):] {
		but = append(but, ts.MkAbs(p))
	}
	var wrong []string
	for p := range before {
		if _, ok := after[p]; !ok && !slices.Contains(but, p) {
			wrong = append(wrong, "gone: "+p)
		}
	}
	for p, now := range after {
		was, ok := before[p]
		same := ok && was.text == now.text && was.time.Equal(now.time)
		if same == slices.Contains(but, p) {
			wrong = append(wrong, fmt.Sprintf("same=%v: %s", same, p))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		ts.Fatalf("the tree changed:\n%s", strings.Join(wrong, "\n"))
	}
}

func stamps(ts *testscript.TestScript) map[string]stamp {
	out := map[string]stamp{}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		out[p] = stamp{string(text), info.ModTime()}
		return err
	}))
	return out
}

// code N COMMAND … runs a command that must end with exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		got = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
