//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// width is the number of columns of a terminal, 0 for anything else.
func width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
