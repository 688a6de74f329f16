//go:build !unix

package experiment

import (
	"os"
	"os/exec"
)

// Settings are changed on Linux only; here there are none to be found.

func setOwnSession(*exec.Cmd) {}

func ignoreTerminalSignals() <-chan os.Signal { return nil }
