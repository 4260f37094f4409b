package generator

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/gitrev"
	"github.com/idemgen/idemgen/generator/review"
)

// Review says what changed since a revision of git: it generates without
// writing, and compares with the REVIEW.json and the .sql files that were
// committed. Its error is that of Run, or a *gitrev.Error.
func Review(ctx context.Context, opts Options, rev string) (*review.Report, *Result, error) {
	dir := opts.Dir
	if dir == "" {
		dir = "."
	}
	repo, err := gitrev.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	commit, err := repo.Base(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	opts.DryRun = true
	result, err := Run(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	if result.Review == nil {
		return nil, nil, errors.New("the sqlc files name no PostgreSQL queries, so there is nothing to review")
	}
	b := &base{dir: dir, repo: repo, rev: rev, commit: commit, result: result}
	was, err := b.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	report := review.Compare(was, result.Review)
	report.Base, report.Commit, report.Moved = rev, commit, b.moved
	return report, result, nil
}

// base is the state to compare with.
type base struct {
	dir         string
	repo        *gitrev.Repo
	rev, commit string
	result      *Result
	tree        *gitrev.Tree
	moved       string // the path of its REVIEW.json, where that is another one
}

// read finds and parses the REVIEW.json, and adds the SQL; nil where idemgen is
// new.
func (b *base) read(ctx context.Context) (*review.Document, error) {
	var err error
	if b.tree, err = b.repo.Tree(ctx, b.commit); err != nil {
		return nil, err
	}
	file, doc, err := b.find(ctx)
	if err != nil || doc == nil {
		return nil, err
	}
	sql := make([]string, len(doc.Operations))
	for i, op := range doc.Operations {
		sql[i] = path.Join(path.Dir(file), op.SQLFile)
	}
	texts, err := b.tree.Read(ctx, sql...)
	if err != nil {
		return nil, err
	}
	if doc.Migrations, err = b.migrations(ctx); err != nil {
		return nil, err
	}
	for i, op := range doc.Operations {
		op.SQL = strings.ReplaceAll(string(texts[sql[i]]), "\r\n", "\n")
	}
	return doc, nil
}

// migrations are the files of the revision that may be migrations of the service:
// those of the names and in the folders of the present ones.
func (b *base) migrations(ctx context.Context) ([]review.Migration, error) {
	var names, folders []string
	for _, m := range b.result.Review.Migrations {
		names = append(names, path.Base(m.File))
		folders = append(folders, b.tree.Path(path.Dir(m.File)))
	}
	var paths []string
	for _, name := range b.tree.Suffixed(".sql") {
		if slices.Contains(folders, path.Dir(name)) || slices.Contains(names, path.Base(name)) {
			paths = append(paths, name)
		}
	}
	texts, err := b.tree.Read(ctx, paths...)
	if err != nil {
		return nil, err
	}
	var out []review.Migration
	for _, name := range paths {
		out = append(out, review.Migration{File: name, Text: strings.ReplaceAll(string(texts[name]), "\r\n", "\n")})
	}
	return out, nil
}

// find looks for the REVIEW.json where it is now, where the lock of the revision
// says that it was, and, for a service whose folder was moved, anywhere.
func (b *base) find(ctx context.Context) (string, *review.Document, error) {
	now := b.tree.Path(path.Join(b.result.Out, review.JSONFile))
	if b.tree.Has(now) {
		doc, err := b.parse(ctx, now)
		return now, doc, err
	}
	lock := b.tree.Path(lockName(b.result.Config))
	texts, err := b.tree.Read(ctx, lock)
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(string(texts[lock])) {
		name, _, _ := strings.Cut(line, " ")
		if was := b.tree.Path(name); path.Base(name) == review.JSONFile && b.tree.Has(was) {
			b.moved = was
			doc, err := b.parse(ctx, was)
			return was, doc, err
		}
	}
	return b.search(ctx)
}

// search looks for the service by its name.
func (b *base) search(ctx context.Context) (string, *review.Document, error) {
	var at []string
	var found *review.Document
	for _, name := range b.tree.Suffixed("/" + review.JSONFile) {
		doc, err := b.parse(ctx, name)
		if err == nil && doc.Service == b.result.Review.Service && !b.stillThere(name) {
			at, found = append(at, name), doc
		}
	}
	switch {
	case len(at) == 1:
		b.moved = at[0]
		return at[0], found, nil
	case len(at) > 1:
		return "", nil, &gitrev.Error{
			Message: fmt.Sprintf("%s was at none of its present places in %s, and several services have its name: %s", b.result.Review.Service, b.rev, strings.Join(at, ", ")),
			Hint:    "give each service a name of its own (`service:`), in a commit before the one that moves it",
		}
	case b.tree.Has(b.tree.Path(b.result.Config)):
		return "", nil, &gitrev.Error{
			Message: fmt.Sprintf("%s has %s, but no %s: what idemgen emits is not committed there, or an older idemgen made it", b.rev, b.tree.Path(b.result.Config), review.JSONFile),
			Hint:    "commit what `idemgen generate` writes, there first; or choose another --base",
		}
	}
	return "", nil, nil
}

// stillThere reports whether a file of the revision is in the working tree: it is
// then another service of that name, not one that was moved.
func (b *base) stillThere(name string) bool {
	up := ""
	if b.repo.Prefix != "" {
		up = strings.Repeat("../", strings.Count(b.repo.Prefix, "/")+1)
	}
	tree, err := files.Open(b.dir)
	if err != nil {
		return false
	}
	defer func() { _ = tree.Close() }()
	return tree.Exists(up + name)
}

func (b *base) parse(ctx context.Context, name string) (*review.Document, error) {
	texts, err := b.tree.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	doc, err := review.Parse(texts[name])
	switch {
	case errors.Is(err, review.ErrVersion):
		return nil, &gitrev.Error{Message: name + " of " + b.rev + " was made by a newer idemgen", Hint: "use that version here too"}
	case err != nil:
		return nil, &gitrev.Error{Message: name + " of " + b.rev + ": " + err.Error(), Hint: "choose another --base; or commit what `idemgen generate` writes there"}
	}
	return doc, nil
}
