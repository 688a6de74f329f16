package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// sysfsPath returns the directory of the kernel's settings. It is $HOST_SYS, where exporters of metrics in a
// container have the host's /sys mounted, else /sys.
func sysfsPath() string { return cmp.Or(os.Getenv("HOST_SYS"), "/sys") }

// readFile reads a setting's file.
func readFile(name string) (string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) { // ENODEV: a file that is still open of a removed cgroup
		return "", fmt.Errorf("%s: %w", name, ErrGone)
	}
	return strings.TrimSpace(string(b)), err
}

// writeFile writes a setting's file in one call, as the kernel requires. It does not create the file.
func writeFile(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return explainWriteError(name, err)
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return explainWriteError(name, err)
	}
	return nil
}

// checkWritable returns an error if a file cannot be written, with what to do. It writes nothing.
func checkWritable(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return explainWriteError(name, err)
	}
	return f.Close()
}

// explainWriteError returns an error for a file that cannot be written, with what to do.
func explainWriteError(name string, err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a read-only file system, as in most containers: run unstall on the host, or mount the host's /sys and set HOST_SYS to its path", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be written without root: sudo unstall try …", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, ErrGone)
	}
	return err
}
