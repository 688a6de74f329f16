//go:build !linux

package text

import "os"

func terminalHeight(*os.File) (rows int, terminal bool) { return 0, false }

func terminalWidth(f *os.File) (columns int, terminal bool) {
	fi, err := f.Stat()
	return 0, err == nil && fi.Mode()&os.ModeCharDevice != 0
}
