// Package gitrev reads files as they were in a revision of git, without touching
// the working tree. It runs git as a program.
package gitrev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// Error is something that keeps a revision from being read, with the way out.
type Error struct{ Message, Hint string }

func (e *Error) Error() string { return e.Message }

// Repo is the repository that a folder is in.
type Repo struct {
	// Prefix is the folder below the top of the repository, with slashes; "" for
	// the top itself.
	Prefix string

	dir     string
	program string
	shallow bool
}

// Open finds the repository of a folder. The error is an *Error where there is
// no git or no repository.
func Open(ctx context.Context, dir string) (*Repo, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, &Error{"git is not installed, or not in PATH", "install git; `idemgen verify` needs none"}
	}
	r := &Repo{dir: dir, program: program}
	out, err := r.git(ctx, nil, "rev-parse", "--show-prefix", "--is-shallow-repository")
	if err != nil {
		return nil, &Error{"this folder is in no git repository that can be read: " + err.Error(), "run it in a clone; `idemgen verify` needs no git"}
	}
	prefix, shallow, _ := strings.Cut(string(out), "\n")
	r.Prefix, r.shallow = strings.TrimSuffix(prefix, "/"), strings.TrimSpace(shallow) == "true"
	return r, nil
}

// git runs a command and returns what it printed. The error is what it said.
func (r *Repo) git(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir = r.dir
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	cmd.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			first, _, _ := strings.Cut(said, "\n")
			return nil, errors.New(first)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.Bytes(), nil
}

// Base is the commit to compare the working tree with: the last one that a
// revision and HEAD have in common, so that what others did since then on a
// branch is not taken for a change of this one.
func (r *Repo) Base(ctx context.Context, rev string) (string, error) {
	commit, err := r.resolve(ctx, rev)
	if err != nil {
		return "", err
	}
	head, err := r.resolve(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	common, err := r.git(ctx, nil, "merge-base", commit, head)
	switch {
	case err == nil:
		return strings.TrimSpace(string(common)), nil
	case r.shallow:
		return "", &Error{fmt.Sprintf("this clone is shallow: it does not reach back to where HEAD left %s", rev), deepen}
	}
	return commit, nil // histories without a common commit
}

const deepen = "fetch all of the history: git fetch --unshallow; with actions/checkout, fetch-depth: 0"

// resolve finds the commit of a revision.
func (r *Repo) resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", &Error{fmt.Sprintf("%q is no revision of git", rev), "name a branch, a tag or a commit: --base origin/main"}
	}
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	e := &Error{Message: fmt.Sprintf("git knows no revision %s", rev)}
	near := diag.Nearest(rev, r.names(ctx))
	switch {
	case rev == "HEAD":
		e.Message, e.Hint = "this repository has no commit yet", "commit first; a review compares with a commit"
	case near != "":
		e.Hint = "did you mean " + near + "?"
	case r.shallow:
		e.Hint = "this clone is shallow; " + deepen
	default:
		e.Hint = "fetch it first, like git fetch origin " + strings.TrimPrefix(rev, "origin/")
	}
	return "", e
}

// names are the branches and tags.
func (r *Repo) names(ctx context.Context) []string {
	out, err := r.git(ctx, nil, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
