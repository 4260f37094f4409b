package files

import (
	"os"
	"time"
)

// Stamp is what changes when a file is written: its time and size. The zero
// Stamp is that of a file which is not there.
type Stamp struct {
	Time time.Time
	Size int64
}

// StampOf looks at one path of the tree, without reading it.
func (t *Tree) StampOf(p string) Stamp {
	info, err := os.Stat(t.Abs(p))
	if err != nil {
		return Stamp{}
	}
	if info.IsDir() {
		return Stamp{Size: -1} // its files are looked at one by one
	}
	return Stamp{info.ModTime(), info.Size()}
}
