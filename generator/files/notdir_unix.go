//go:build !windows

package files

import "syscall"

// errNotDir is what reading below a file gives.
var errNotDir error = syscall.ENOTDIR
