//go:build !linux

package text

import "os"

func terminalSize(f *os.File) (rows, columns int, terminal bool) {
	fi, err := f.Stat()
	return 0, 0, err == nil && fi.Mode()&os.ModeCharDevice != 0
}
