//go:build unix

package experiment

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// setOwnSession makes a command start in a session of its own.
func setOwnSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ignoreTerminalSignals ignores the signals that a terminal ends its programs with. It returns a
// channel that tells of SIGTERM.
func ignoreTerminalSignals() <-chan os.Signal {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTSTP)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	return told
}
