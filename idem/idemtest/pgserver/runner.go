package pgserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// runner runs programs as a user that PostgreSQL accepts: it refuses root.
type runner struct {
	credential *syscall.Credential
	dir        string
}

// newRunner makes dir and gives it to the user.
func newRunner(dir string) (*runner, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &runner{dir: dir}
	if os.Geteuid() != 0 {
		return r, nil
	}
	credential, err := unprivileged()
	if err != nil {
		return nil, err
	}
	r.credential = credential
	return r, r.own(dir)
}

// unprivileged is the user postgres if there is one, else nobody.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(found.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(found.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("running as root, and there is no user postgres or nobody to run the server as")
}

func (r *runner) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.dir
	// A group of its own: an interrupt at the terminal is for this process,
	// which then ends the server in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: r.credential, Setpgid: true}
	return cmd
}

func (r *runner) writeFile(name, text string) error {
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return err
	}
	return r.own(name)
}

func (r *runner) own(name string) error {
	if r.credential == nil {
		return nil
	}
	return os.Chown(name, int(r.credential.Uid), int(r.credential.Gid))
}

// ownAll is own for all that is in a folder.
func (r *runner) ownAll(dir string) error {
	return filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil || r.credential == nil {
			return err
		}
		return os.Lchown(name, int(r.credential.Uid), int(r.credential.Gid))
	})
}
