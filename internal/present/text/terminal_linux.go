package text

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize asks the terminal for its lines and its width; false if f is none.
func terminalSize(f *os.File) (rows, columns int, terminal bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(ws.Row), int(ws.Col), true
}
