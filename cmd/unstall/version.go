package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

func (*versionCommand) Run(s *session) error {
	fmt.Fprintln(s.out, versionLine())
	return nil
}

// The linker sets both (-X main.release=0.1.0 -X main.commit=abc1234).
var release, commit string

// programVersion returns the release, else the version that the toolchain recorded.
func programVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versionLine names the version, the commit and the toolchain, such as
// "unstall 0.1.0 (commit abc1234, go1.26.3)".
func versionLine() string {
	from := cmp.Or(commit, recordedCommit())
	if from == "" {
		return fmt.Sprintf("unstall %s (%s)", programVersion(), runtime.Version())
	}
	return fmt.Sprintf("unstall %s (commit %s, %s)", programVersion(), from, runtime.Version())
}

// recordedCommit is the commit the toolchain recorded, "" if none.
func recordedCommit() (name string) {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			name = setting.Value[:min(7, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			name += "-dirty"
		}
	}
	return name
}
