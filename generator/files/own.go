package files

import (
	"bytes"

	"github.com/idemgen/idemgen/generator/diag"
)

// ejectedMark stands in a file that was emitted and is the user's own, in the
// place of ownMark.
const ejectedMark = "Emitted by idemgen, and ejected: this file is yours."

// owned decides about a file that is the user's own.
func (t *Tree) owned(p string, diags *diag.List) (Change, bool) {
	old, err := t.existing(p)
	switch {
	case err != nil:
		refuse(p, err, diags)
		return Change{}, false
	case old == nil:
		diags.Errorf(diag.ConfigMissing, diag.Pos{File: p}, "%s is not there, and its operation is ejected", p).
			Hint("restore it; or remove the operation from `eject:`, and generate writes it")
		return Change{}, false
	case marked(old, ownMark):
		return difference(p, old, bytes.Replace(old, []byte(ownMark), []byte(ejectedMark), 1)), true
	}
	return Change{Path: p, Action: Keep, Old: old, New: old}, true
}
