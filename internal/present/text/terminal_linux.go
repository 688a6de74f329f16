package text

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalHeight asks the terminal for its lines; false if f is none.
func terminalHeight(f *os.File) (rows int, terminal bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(ws.Row), true
}

// terminalWidth asks the terminal for its width; false if f is none.
func terminalWidth(f *os.File) (columns int, terminal bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(ws.Col), true
}
