package gitrev

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Tree is the files of a commit.
type Tree struct {
	repo    *Repo
	objects map[string]string // by path from the top of the repository
}

// Tree lists the files of a commit, symbolic links and submodules apart.
func (r *Repo) Tree(ctx context.Context, commit string) (*Tree, error) {
	out, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, &Error{"git can't list the files of " + commit + ": " + err.Error(), deepen}
	}
	t := &Tree{repo: r, objects: map[string]string{}}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta) // mode, type, object
		if ok && len(fields) == 3 && strings.HasPrefix(fields[0], "100") {
			t.objects[name] = fields[2]
		}
	}
	return t, nil
}

// Path is a path of the repository's folder as the tree names it.
func (t *Tree) Path(p string) string { return path.Join(t.repo.Prefix, p) }

// Has reports whether a file is there.
func (t *Tree) Has(name string) bool { return t.objects[name] != "" }

// Suffixed are the files whose names end so, sorted.
func (t *Tree) Suffixed(end string) []string {
	var out []string
	for name := range t.objects {
		if strings.HasSuffix(name, end) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Read returns the content of files, byte for byte as committed, by one
// process. Those that are not there are left out.
func (t *Tree) Read(ctx context.Context, names ...string) (map[string][]byte, error) {
	var wanted []string
	var input bytes.Buffer
	for _, name := range names {
		if object := t.objects[name]; object != "" {
			wanted = append(wanted, name)
			input.WriteString(object + "\n")
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out, err := t.repo.git(ctx, input.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, &Error{"git can't read the files: " + err.Error(), deepen}
	}
	contents := map[string][]byte{}
	for _, name := range wanted {
		head, rest, _ := bytes.Cut(out, []byte("\n")) // object, type, size
		fields := strings.Fields(string(head))
		if len(fields) != 3 {
			return nil, &Error{fmt.Sprintf("git lacks the content of %s: %s", name, head), deepen}
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size+1 > len(rest) {
			return nil, &Error{fmt.Sprintf("git gave %s only in part", name), "try again"}
		}
		contents[name], out = rest[:size:size], rest[size+1:]
	}
	return contents, nil
}
