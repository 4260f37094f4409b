package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes a file that the user named on the command line, wherever that is:
// whole, or not at all. Folders are not made.
func Save(name string, content []byte) (err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file", name)
	} else if err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, content, filePerm) // a pipe, /dev/stdout
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".idemgen-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Close(), os.Chmod(temp.Name(), filePerm))
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// filePerm are the permissions of a file for everybody to read.
const filePerm = 0o644
