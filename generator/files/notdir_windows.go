package files

import "io/fs"

// errNotDir is what reading below a file gives.
var errNotDir = fs.ErrNotExist
