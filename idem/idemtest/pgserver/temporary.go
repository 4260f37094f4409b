package pgserver

import "os"

// makeTemporary makes the folder of a server whose data is not kept. Each database
// is hundreds of files, made and deleted at once, for which ext4 takes several
// times as long as a file system in memory. Downloaded programs are not for there:
// it may be one that runs none.
func makeTemporary() (string, error) {
	if folder := inMemory(); folder != "" && Installed() {
		if dir, err := os.MkdirTemp(folder, "pgserver-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "pgserver-")
}

// enough is how many bytes must be free in memory; a test process needs a tenth.
const enough = 2 << 30

// inMemory is a folder whose files are in memory and that has room, or "". Who sets
// TMPDIR has said where temporary files are to be.
func inMemory() string {
	const folder = "/dev/shm"
	if os.Getenv("TMPDIR") != "" || freeBytes(folder) < enough {
		return ""
	}
	return folder
}
