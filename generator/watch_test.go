package generator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// small is a service of one operation.
func small(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/big\n\ngo 1.25\n", "idemgen.yaml": bigConfig, "sqlc.yaml": bigSqlc,
		"m/00001_things.sql": "-- +goose Up\nCREATE TABLE things (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id text NOT NULL, name text NOT NULL);\n",
		"q/things.sql":       "-- name: AddThing :one\n-- @http POST /v1/things\n-- @intent things (tenant_id, name)\nINSERT INTO things (tenant_id, name) VALUES (@tenant_id, @name) RETURNING id;\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// watching is a Watch whose runs a test waits for.
type watching struct {
	t    *testing.T
	dir  string
	runs chan time.Time // when each began
}

// watch begins with a run that is waited for; fail is what all runs end with.
func watch(t *testing.T, dir string, fail error) *watching {
	t.Helper()
	w := &watching{t: t, dir: dir, runs: make(chan time.Time, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Watch(ctx, Options{Dir: dir}, func(context.Context, Options) (*Result, error) {
			w.runs <- time.Now()
			return nil, fail
		}, func(*Result, error) {})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	w.next()
	return w
}

// next waits for a run.
func (w *watching) next() time.Time {
	w.t.Helper()
	select {
	case at := <-w.runs:
		return at
	case <-time.After(20 * time.Second):
		w.t.Fatal("no run")
		return time.Time{}
	}
}

// change does something to the folder, and waits for the run that sees it.
func (w *watching) change(what string, do func() error) time.Duration {
	w.t.Helper()
	w.settle()
	begin := time.Now()
	if err := do(); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	w.t.Log(what)
	return w.next().Sub(begin)
}

// settle takes runs that a change in several steps has caused.
func (w *watching) settle() {
	for {
		select {
		case <-w.runs:
		default:
			return
		}
	}
}

// TestWatchSeesEachKindOfInput: configuration, sqlc file, query, migration and
// spec, changed, added and removed.
func TestWatchSeesEachKindOfInput(t *testing.T) {
	dir := small(t)
	put(t, filepath.Join(dir, "idemgen.yaml"), bigConfig+"specs: [e/*.yaml]\n")
	put(t, filepath.Join(dir, "e/a.yaml"), "endpoints: {}\n")
	w := watch(t, dir, nil)
	fastest := time.Hour
	for _, name := range []string{"idemgen.yaml", "sqlc.yaml", "q/things.sql", "q/more.sql", "m/00001_things.sql", "m/00002_new.sql", "e/a.yaml", "e/b.yaml", "go.mod"} {
		path := filepath.Join(dir, name)
		fastest = min(fastest, w.change("write "+name, func() error {
			old, _ := os.ReadFile(path)
			return os.WriteFile(path, append(old, "\n# -- more\n"...), 0o644)
		}))
	}
	w.change("remove a query", func() error { return os.Remove(filepath.Join(dir, "q/more.sql")) })
	if fastest > time.Second {
		t.Errorf("a change was seen after %s at best; want under a second", fastest)
	}
}

// TestWatchSurvives: half-written files, folders that are gone for a while, and
// errors of every run.
func TestWatchSurvives(t *testing.T) {
	dir := small(t)
	w := watch(t, dir, errors.New("every run fails"))
	q := filepath.Join(dir, "q")
	query := filepath.Join(q, "things.sql")
	text, err := os.ReadFile(query)
	if err != nil {
		t.Fatal(err)
	}
	w.change("half a query", func() error { return os.WriteFile(query, text[:len(text)/2], 0o644) })
	w.change("an empty configuration", func() error { return os.WriteFile(filepath.Join(dir, "idemgen.yaml"), nil, 0o644) })
	w.change("the queries gone", func() error { return os.RemoveAll(q) })
	w.change("the queries back", func() error { return errors.Join(os.Mkdir(q, 0o755), os.WriteFile(query, text, 0o644)) })
	w.change("the migrations gone", func() error { return os.RemoveAll(filepath.Join(dir, "m")) })
	w.change("all gone", func() error { return os.RemoveAll(dir) })
	w.change("all back", func() error {
		put(t, filepath.Join(dir, "idemgen.yaml"), bigConfig)
		return nil
	})
	w.change("a query after all that", func() error { put(t, query, string(text)+"-- one more\n"); return nil })
}

// TestWatchIsNotWokenByItsOwnRun: the migrations that a run adds are inputs of
// the next.
func TestWatchIsNotWokenByItsOwnRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	w := &watcher{opts: Options{Dir: small(t)}}
	before := inputsOf(w.opts, inputs{}).look(w.opts.Dir)
	if _, err := w.once(t.Context(), Run); err != nil {
		t.Fatal(err)
	}
	now := w.in.look(w.opts.Dir)
	if before.equal(now) || len(now) < 5 {
		t.Fatalf("the run added no migration, so this tests nothing: %v", now)
	}
	if !w.seen.equal(now) {
		t.Errorf("its own files wake it: %v, then %v", w.seen, now)
	}
}

// TestWatchSeesWhatChangesDuringARun: a correction while sqlc runs is not lost.
func TestWatchSeesWhatChangesDuringARun(t *testing.T) {
	w := &watcher{opts: Options{Dir: small(t)}}
	if _, err := w.once(t.Context(), func(context.Context, Options) (*Result, error) {
		put(t, filepath.Join(w.opts.Dir, "q/things.sql"), "-- corrected meanwhile\n")
		return &Result{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if w.seen.equal(w.in.look(w.opts.Dir)) {
		t.Error("the change counts as seen")
	}
}
