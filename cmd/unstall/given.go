package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/present"
)

// given are the flags typed on a command line, by name. A value from the environment or a file of defaults may be unused, but a
// typed flag must have an effect.
type given map[string]string

// givenOn returns the typed flags with their values.
func givenOn(command *kong.Context) given {
	g := make(given)
	for _, p := range command.Path {
		if p.Flag != nil && !p.Resolved {
			g[p.Flag.Name] = fmt.Sprint(reflect.Indirect(p.Flag.Target))
		}
	}
	return g
}

// checkContradictions refuses flags that contradict each other or have no effect, for every command.
func (g given) checkContradictions() error {
	format, output := g["format"], g["output"]
	if other := present.FormOf(output); format != "" && other != "" && other != format && slices.Contains(strings.Split(present.Names("|"), "|"), format) {
		return fmt.Errorf("--format %s -o %s: this file name stands for the format %s: omit --format, or use another file name than %s", format, output, other, filepath.Ext(output))
	}
	if n, ok := g["connections"]; ok && n == "0" {
		return fmt.Errorf("--connections 0: give 1 or more")
	}
	if n, ok := g["expect-rate"]; ok && (n == "0" || strings.HasPrefix(n, "-")) {
		return fmt.Errorf("--expect-rate %s: give requests per second, such as 10", n)
	}
	for _, pattern := range []string{"ramp", "steps"} {
		_, rate := g["rate"]
		if p, ok := g[pattern]; ok && rate {
			return fmt.Errorf("--%s %s: it sets the rates: omit --rate", pattern, p)
		}
	}
	return nil
}

// recordingFlags are the flags that are about recording a process only.
var recordingFlags = []string{"for", "passive", "jfr", "no-jfr", "kernel", "no-kernel", "heap", "otlp", "capture"}

// refuseRecordingFlags refuses flags about recording a process if only files are given.
func (g given) refuseRecordingFlags() error {
	for _, name := range recordingFlags {
		if _, ok := g[name]; ok {
			return fmt.Errorf("--%s: it is for recording a running process, but only files were given: omit it, or give a PID, name or URL", name)
		}
	}
	return nil
}
