package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

var sqlBlock = regexp.MustCompile("(?ms)^```sql\n(.*?)^```$")

// readme is the README of the repository from a heading on; from its beginning
// where the heading is "".
func readme(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut("\n"+string(text), heading)
	if !found {
		t.Fatalf("the README has no %q", strings.TrimSpace(heading))
	}
	return after
}

// firstSQL is the first fenced block of SQL.
func firstSQL(t *testing.T, text string) string {
	t.Helper()
	block := sqlBlock.FindStringSubmatch(text)
	if block == nil {
		t.Fatal("no block of SQL")
	}
	return block[1]
}

// The query that the README begins with is one of this service: under the same
// name, with the same annotations, and columns that it has as well.
func TestTheReadmeShowsAQueryOfThisService(t *testing.T) {
	shown := firstSQL(t, readme(t, ""))
	name, _, _ := strings.Cut(shown, "\n")
	text, err := os.ReadFile("db/queries/payments.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), name+"\n")
	if !found {
		t.Fatalf("there is no %s", name)
	}
	real, _, _ := strings.Cut(after, "\n-- name: ")
	realLines := strings.Split(real, "\n")
	comments := 0
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "--") || line == name {
			continue
		}
		comments++
		if !slices.Contains(realLines, line) {
			t.Errorf("the service's query has no line %s", line)
		}
	}
	if comments < 3 {
		t.Errorf("the README shows %d lines of description and annotations", comments)
	}
	words := regexp.MustCompile(`@?\w+`)
	realWords := words.FindAllString(real, -1)
	for _, word := range words.FindAllString(shown[strings.Index(shown, "INSERT"):], -1) {
		if !slices.Contains(realWords, word) {
			t.Errorf("the service's query has no %s", word)
		}
	}
}

// "An endpoint in one minute", done as it says, in a copy of this service.
func TestAnEndpointInOneMinute(t *testing.T) {
	if testing.Short() {
		t.Skip("it generates and builds a service")
	}
	dir := filepath.Join(t.TempDir(), "example-service")
	copyService(t, dir)
	statement := firstSQL(t, readme(t, "\n## An endpoint in one minute\n"))
	appendTo(t, filepath.Join(dir, "db", "queries", "payments.sql"), "\n"+statement)

	alone := []string{"GOWORK=off", "GOFLAGS=-mod=mod"}
	runIn(t, dir, alone, "go", "generate", ".") // what the go:generate line says
	sql, err := os.ReadFile(filepath.Join(dir, "internal", "api", "sql", "reopen_payment.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(sql, []byte("-- Strategy: fused. Round trips: 1, a replay 1.")) || !bytes.Contains(sql, []byte("status = 'authorized'")) {
		t.Errorf("the emitted file: %s", sql)
	}
	binary := build(t, dir, alone...)

	url := idemtest.URL(t, emptyDatabase)
	p := start(t, binary, 0, "DATABASE_URL="+url)
	pool := idemtest.Open(t, url, nil)
	c := &client{&service{pool: pool, url: p.url, http: httpClient(t)}, "acme", keyFrom(t, binary, url, "acme")}
	id := c.payment(t, "order-1")
	reopen := "/v1/payments/" + id + "/reopen"
	early := c.post(t, reopen, "early", "")
	if problem := early.refused(t, 409, "not_captured"); problem["title"] != "only a captured payment can be reopened" {
		t.Errorf("title %q", problem["title"])
	}
	c.post(t, "/v1/payments/"+id+"/capture", "k", "").must(t, 200)
	first := c.post(t, reopen, "k", "")
	if m := first.must(t, 200); m["status"] != "authorized" || fmt.Sprint(m["id"]) != id || m["order_id"] != "order-1" {
		t.Errorf("%s", first.body)
	}
	c.post(t, reopen, "k", "").replays(t, first)
	c.post(t, reopen, "early", "").replays(t, early)
	c.post(t, reopen, "k2", "").refused(t, 409, "not_captured")
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyService copies this module without its tests, as a module of its own:
// what it replaces is where it was.
func copyService(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(dir, path), 0o755)
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, []string{"GOWORK=off"}, "go", "mod", "edit", "-replace=github.com/idemgen/idemgen="+root,
		"-replace=github.com/idemgen/idemgen/adapters/mcp="+filepath.Join(root, "adapters", "mcp"),
		"-replace=github.com/idemgen/idemgen/adapters/nats="+filepath.Join(root, "adapters", "nats"))
	// The generator's own dependencies, at the versions that the repository has.
	for _, sums := range []string{"go.sum", "go.work.sum"} {
		text, err := os.ReadFile(filepath.Join(root, sums))
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, filepath.Join(dir, "go.sum"), string(text))
	}
}
