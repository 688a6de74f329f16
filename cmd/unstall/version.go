package main

import (
	"fmt"
	"runtime/debug"
)

type versionCommand struct{}

func (*versionCommand) Run(s *session) error {
	fmt.Fprintln(s.out, "unstall", version())
	return nil
}

// release is set by the linker for released binaries.
var release string

// version is the release, else what the toolchain recorded.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
