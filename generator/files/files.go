// Package files reads and writes the user's tree: all of the generator that
// touches the disk, beside running sqlc. A change is computed whole before its
// first byte is written, unchanged files keep their modification time, and a
// failed write is rolled back.
package files

// File is one file to be there, by path relative to the folder of idemgen.yaml.
type File struct {
	Path    string
	Content []byte
	// Once: written if absent, never changed or removed (migrations, init).
	Once bool
	// Foreign: emitted by sqlc, which the user may also run without idemgen:
	// another content is no edit. Removed when no longer made, if it is as
	// idemgen last wrote it.
	Foreign bool
	// Own: emitted once, and the user's own now. It must be there; what it holds
	// is not compared, and the lock does not know it. Only the mark of its origin
	// is taken out.
	Own bool
}

// Change is what reconciling would do, or did, to one path.
type Change struct {
	Path   string
	Action Action
	Old    []byte // what is there now, nil if nothing is
	New    []byte // what will be there, nil if it is removed
	// Emitted: the lock says that idemgen wrote this file before.
	Emitted bool
	// Versions: it is the lock, and only its version lines change.
	Versions bool
}

// Action is what happens to a path.
type Action string

// The actions.
const (
	Write  Action = "write"  // made or changed
	Keep   Action = "keep"   // as it should be
	Remove Action = "remove" // emitted once, no longer wanted
)
