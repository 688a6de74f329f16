package text

import (
	"os"

	"golang.org/x/sys/unix"
)

// height asks the terminal for its lines; false if f is none.
func height(f *os.File) (rows int, terminal bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(ws.Row), true
}

// window asks the terminal for its width; false if f is none.
func window(f *os.File) (columns int, terminal bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(ws.Col), true
}
