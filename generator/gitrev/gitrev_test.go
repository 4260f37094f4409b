package gitrev

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a fresh one with a commit of odd files.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for name, text := range map[string]string{
		"top.txt": "top", "sub/empty.sql": "", "sub/größe \"q\"\n.sql": "odd\r\nname", "sub/.gitattributes": "*.sql export-ignore text eol=crlf\n",
		"sub/binary.sql": "\x00\x01\n\n", "sub/head.sql": "blob 3\nabc\n",
	} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("top.txt", filepath.Join(dir, "link.sql")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "-c", "core.autocrlf=false", "add", ".")
	git(t, dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "All")
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestTreeReadsWhatWasCommitted: byte for byte, whatever the names, and whatever
// is in the working tree.
func TestTreeReadsWhatWasCommitted(t *testing.T) {
	ctx := t.Context()
	dir := repository(t)
	if err := os.WriteFile(filepath.Join(dir, "top.txt"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	repo, err := Open(ctx, filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Base(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		t.Fatal(err)
	}
	if repo.Prefix != "sub" || tree.Path("../top.txt") != "top.txt" || tree.Has("link.sql") || tree.Has("none") {
		t.Errorf("prefix %q", repo.Prefix)
	}
	sql := tree.Suffixed(".sql")
	if got := strings.Join(sql, "|"); got != "sub/binary.sql|sub/empty.sql|sub/größe \"q\"\n.sql|sub/head.sql" {
		t.Errorf("files %q", got)
	}
	texts, err := tree.Read(ctx, append(sql, "top.txt", "none")...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"top.txt": "top", "sub/empty.sql": "", "sub/binary.sql": "\x00\x01\n\n", "sub/head.sql": "blob 3\nabc\n",
	} {
		if got, ok := texts[name]; !ok || string(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(texts) != 5 {
		t.Errorf("%d files", len(texts))
	}
}

func TestOpenWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), ".")
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "git is not installed") || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// TestUnrelatedHistories: without a common commit the revision itself counts.
func TestUnrelatedHistories(t *testing.T) {
	ctx := t.Context()
	dir := repository(t)
	git(t, dir, "checkout", "-q", "--orphan", "other")
	git(t, dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "Other")
	repo, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Base(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := repo.resolve(ctx, "main"); commit != want {
		t.Errorf("%s, want %s", commit, want)
	}
}

func TestACancelledRunIsNoUnknownRevision(t *testing.T) {
	repo, err := Open(t.Context(), repository(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repo.Base(ctx, "main"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
