//go:build unix

package experiment

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// apart starts a command in a session of its own.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// deaf ignores what ends a terminal's programs, and says when somebody ends this one.
func deaf() <-chan os.Signal {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTSTP)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	return told
}
