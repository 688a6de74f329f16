package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// diskOf returns the device of a folder, as "254:0": for a partition the whole disk, since limits apply
// to disks.
func diskOf(dir string) (string, error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s: its device is not known", dir)
	}
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	at, err := filepath.EvalSymlinks("/sys/dev/block/" + device)
	if err != nil {
		return "", fmt.Errorf("%s is on no disk", dir)
	}
	if fileExists(filepath.Join(at, "partition")) {
		whole, err := os.ReadFile(filepath.Join(filepath.Dir(at), "dev"))
		return strings.TrimSpace(string(whole)), err
	}
	return device, nil
}
