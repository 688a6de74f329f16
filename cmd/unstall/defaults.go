package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/cmd/unstall/arguments"
	"github.com/unstall/unstall/internal/base/suggest"
)

// defaultsFile holds values for flags, by their names, that are not on the command line:
// one in the current directory, else the user's.
const defaultsFile = "unstall.yaml"

// defaultsName is the file that is read, "" none.
func defaultsName() string {
	names := []string{defaultsFile}
	if dir, err := os.UserConfigDir(); err == nil {
		names = append(names, filepath.Join(dir, "unstall", defaultsFile))
	}
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// readDefaults reads a file of values for flags.
func readDefaults(name string) (map[string]any, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	values := make(map[string]any)
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("%s: not YAML of flags and values, such as slo: 300ms: %w", name, err)
	}
	return values, nil
}

// defaults are values for flags from a file. A name that no command has a flag of is an error; one that the command at
// hand has none of is for others.
func defaults(name string, program *arguments.Command) (arguments.Defaults, error) {
	if name == "" {
		return nil, nil
	}
	values, err := readDefaults(name)
	if err != nil {
		return nil, err
	}
	var known []string
	program.Every(func(c *arguments.Command) {
		for _, f := range c.Flags {
			known = append(known, f.Name)
		}
	})
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(known, key) {
			continue
		}
		meant := ""
		if near := suggest.Nearest(key, known); near != "" {
			meant = fmt.Sprintf("; do you mean %q?", near)
		}
		errs = append(errs, fmt.Errorf("%s: unknown flag %q%s", name, key, meant))
	}
	return func(flag string) any { return values[flag] }, errors.Join(errs...)
}
