package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// disk is what writing needs of an os.Root; tests put faults in between.
type disk interface {
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, atime, mtime time.Time) error
}

var _ disk = (*os.Root)(nil)

// Apply makes the changes: new content goes to a temporary file beside its
// target first, then all are renamed into place. If anything fails, what was
// done is undone, and the error says what could not be undone. Folders that
// become empty by a removal are removed.
func (t *Tree) Apply(changes []Change) error {
	a := applier{tree: t}
	err := a.run(changes)
	if err == nil {
		return nil
	}
	if undo := a.undo(); undo != nil {
		return fmt.Errorf("%w; undoing failed too: %w", err, undo)
	}
	return fmt.Errorf("%w; nothing was changed", err)
}

// applier is one Apply: what it did so far, newest last.
type applier struct {
	tree *Tree
	did  []func() error
}

type staged struct{ name, temp string }

func (a *applier) run(changes []Change) error {
	var ready []staged
	for _, c := range changes {
		if c.Action != Write {
			continue
		}
		s, err := a.stage(c)
		if err != nil {
			return err
		}
		ready = append(ready, s)
	}
	for _, s := range ready {
		if err := a.replace(s.name, func() error { return a.tree.disk.Rename(s.temp, s.name) }); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.Action != Remove {
			continue
		}
		if err := a.remove(c); err != nil {
			return err
		}
	}
	return nil
}

// stage writes a file's new content beside its target.
func (a *applier) stage(c Change) (staged, error) {
	name, err := a.tree.inside(c.Path)
	if err != nil {
		return staged{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	if err := a.folder(filepath.Dir(name)); err != nil {
		return staged{}, err
	}
	mode := fs.FileMode(0o644)
	info, err := a.tree.disk.Lstat(name)
	if err == nil {
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".idemgen-tmp")
	a.did = append(a.did, func() error { return gone(a.tree.disk.Remove(temp)) })
	if err := a.tree.disk.WriteFile(temp, c.New, mode); err != nil {
		return staged{}, err
	}
	return staged{name: name, temp: temp}, a.tree.disk.Chmod(temp, mode)
}

// folder makes a folder and those above it, one by one, so that each can be
// undone.
func (a *applier) folder(name string) error {
	if name == "." {
		return nil
	}
	if info, err := a.tree.disk.Lstat(name); err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0) {
		return nil
	}
	if err := a.folder(filepath.Dir(name)); err != nil {
		return err
	}
	if err := a.tree.disk.Mkdir(name, 0o755); err != nil {
		return err
	}
	a.did = append(a.did, func() error { return a.tree.disk.Remove(name) })
	return nil
}

// replace runs a step that changes or removes name, and remembers how to put
// the old file back, its time included.
func (a *applier) replace(name string, step func() error) error {
	disk := a.tree.disk
	info, err := disk.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.did = append(a.did, func() error { return gone(disk.Remove(name)) })
		return step()
	case err != nil:
		return err
	}
	old, err := disk.ReadFile(name)
	if err != nil {
		return err
	}
	if err := step(); err != nil {
		return err
	}
	a.did = append(a.did, func() error {
		if err := disk.WriteFile(name, old, info.Mode().Perm()); err != nil {
			return err
		}
		return disk.Chtimes(name, info.ModTime(), info.ModTime())
	})
	return nil
}

func (a *applier) remove(c Change) error {
	name, err := a.tree.inside(c.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	if err := a.replace(name, func() error { return a.tree.disk.Remove(name) }); err != nil {
		return err
	}
	for dir := filepath.Dir(name); dir != "." && dir != filepath.FromSlash(a.tree.rel); dir = filepath.Dir(dir) {
		// A folder that isn't empty refuses; that is the check.
		if a.tree.disk.Remove(dir) != nil {
			break
		}
		a.did = append(a.did, func() error { return a.tree.disk.Mkdir(dir, 0o755) })
	}
	return nil
}

// undo reverses what was done, newest first.
func (a *applier) undo() error {
	var errs []error
	for i := len(a.did) - 1; i >= 0; i-- {
		errs = append(errs, a.did[i]())
	}
	return errors.Join(errs...)
}

// gone takes "not there" for success.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
