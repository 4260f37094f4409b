package schema

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// timestampFrom is where goose's timestamps begin: 19700101000000. Smaller
// numbers are sequential.
const timestampFrom = 19700101000000

// defaultWidth is how many digits `goose create -s` gives.
const defaultWidth = 5

// numbered is a migration with its number.
type numbered struct {
	file   File
	number int64 // -1 for a file without one
	digits int
}

// order sorts files as they are applied: folder by folder in the order given,
// inside a folder by number. sqlc reads them by name, so where the two differ
// the user must know. Down files of golang-migrate are left out.
func order(files []File, diags *diag.List) ([]File, Numbering) {
	numbering := Numbering{Width: defaultWidth}
	var out []File
	for _, folder := range folders(files) {
		numbering.add(folder)
		for _, m := range sortFolder(folder, diags) {
			out = append(out, m.file)
		}
	}
	return out, numbering
}

// folders groups the files by folder, keeping the order of the folders.
func folders(files []File) [][]numbered {
	var out [][]numbered
	place := map[string]int{}
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".down.sql") {
			continue
		}
		dir := path.Dir(f.Path)
		i, seen := place[dir]
		if !seen {
			i = len(out)
			place[dir] = i
			out = append(out, nil)
		}
		number, digits := versionOf(f.Path)
		out[i] = append(out[i], numbered{f, number, digits})
	}
	return out
}

// versionOf is the number that goose reads from a file's name: all before the
// first underscore.
func versionOf(name string) (number int64, digits int) {
	prefix, _, found := strings.Cut(path.Base(name), "_")
	if !found {
		return -1, 0
	}
	n, err := strconv.ParseInt(prefix, 10, 64)
	if err != nil || n < 1 || strings.HasPrefix(prefix, "+") {
		return -1, 0
	}
	return n, len(prefix)
}

func (n *Numbering) add(folder []numbered) {
	width := 0
	for _, m := range folder {
		switch {
		case m.number < 0:
			continue
		case m.number >= timestampFrom:
			n.Timestamp = true
		default:
			width = max(width, m.digits)
		}
		n.Last = max(n.Last, m.number)
	}
	if width > 0 {
		n.Width = width
	}
}

// sortFolder sorts one folder by name, and its numbered files by number where
// that makes a difference, which is an error: sqlc can't follow it.
func sortFolder(folder []numbered, diags *diag.List) []numbered {
	byName := slices.Clone(folder)
	slices.SortStableFunc(byName, func(a, b numbered) int { return cmp.Compare(a.file.Path, b.file.Path) })
	for i := range byName {
		if byName[i].number < 0 {
			return byName // not a goose folder: the order of names is all there is
		}
	}
	byNumber := slices.Clone(byName)
	slices.SortStableFunc(byNumber, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	reportOrder(byName, byNumber, diags)
	return byNumber
}

func reportOrder(byName, byNumber []numbered, diags *diag.List) {
	for i := 1; i < len(byNumber); i++ {
		if before, m := byNumber[i-1], byNumber[i]; before.number == m.number {
			diags.Errorf(diag.MigrationForm, diag.Pos{File: m.file.Path, Line: 1, Col: 1},
				"%s has the same number as %s", path.Base(m.file.Path), path.Base(before.file.Path)).
				Hint("goose refuses two migrations of one number; rename one of them")
		}
	}
	width := 0
	for _, m := range byNumber {
		width = max(width, m.digits)
	}
	for i := range byName {
		if got, want := byName[i], byNumber[i]; got.number != want.number {
			diags.Errorf(diag.MigrationOrder, diag.Pos{File: got.file.Path, Line: 1, Col: 1},
				"goose applies %s before %s, but sqlc reads it after", path.Base(want.file.Path), path.Base(got.file.Path)).
				Hint("give all migrations numbers of the same width: %0*d_%s", width, want.number, rest(want.file.Path))
			return
		}
	}
}

func rest(name string) string {
	_, after, _ := strings.Cut(path.Base(name), "_")
	return after
}
