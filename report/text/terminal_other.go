//go:build !linux

package text

import "os"

func window(f *os.File) (columns int, terminal bool) {
	fi, err := f.Stat()
	return 0, err == nil && fi.Mode()&os.ModeCharDevice != 0
}
