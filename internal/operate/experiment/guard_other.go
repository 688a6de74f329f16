//go:build !unix

package experiment

import (
	"os"
	"os/exec"
)

// Settings are changed on Linux only. This system has none.

func setOwnSession(*exec.Cmd) {}

func ignoreTerminalSignals() <-chan os.Signal { return nil }
