package pgserver

import "syscall"

// freeBytes is the room in the file system of a folder; 0 where there is none.
func freeBytes(folder string) uint64 {
	var at syscall.Statfs_t
	if err := syscall.Statfs(folder, &at); err != nil || at.Bsize <= 0 {
		return 0
	}
	return at.Bavail * uint64(at.Bsize)
}
