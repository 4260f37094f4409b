package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// mountSmall mounts a small file system in memory at dir.
func mountSmall(dir string) (unmount func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=320m", "tmpfs", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mount a small file system: %w: %s", err, out)
	}
	return func() error { return exec.Command("umount", dir).Run() }, nil
}

// canMount says why mountSmall can't work.
func canMount() string {
	dir, err := os.MkdirTemp("", "idemgen-mount-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	unmount, err := mountSmall(dir)
	if err != nil {
		return "a small file system can't be mounted: " + err.Error()
	}
	if err := unmount(); err != nil {
		return err.Error()
	}
	return ""
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// fill takes all the room that is left in the server's file system; free gives
// it back.
func (c *cluster) fill() (free func() error, err error) {
	name := filepath.Join(c.dir, "ballast")
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, zeros{})
	err = errors.Join(err, file.Close())
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, errors.Join(fmt.Errorf("the disk does not get full: %w", err), os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}
