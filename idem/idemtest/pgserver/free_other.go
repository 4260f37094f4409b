//go:build !linux

package pgserver

// freeBytes is 0: other systems have no folder in memory that is always there.
func freeBytes(string) uint64 { return 0 }
