package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/internal/base/suggest"
)

// defaultsFile holds values for flags that are not on the command line, by the flags' names. It is the file in the current
// directory, else the user's.
const defaultsFile = "unstall.yaml"

// defaultsName returns the file to read, "" none.
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

// readDefaults reads values for flags from a file; "" gives none.
func readDefaults(name string) (kong.Resolver, error) {
	d := &defaults{name: name}
	if name == "" {
		return d, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(text, &d.values); err != nil {
		return nil, fmt.Errorf("%s: not YAML of flags and values, such as slo: 300ms: %w", name, err)
	}
	return d, nil
}

// defaults are values for flags from a file.
type defaults struct {
	name   string
	values map[string]any
}

// Validate refuses a name that is no flag of any command. A name that is a flag of another command is allowed.
func (d *defaults) Validate(app *kong.Application) error {
	var known []string
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if flag, ok := n.(*kong.Flag); ok {
			known = append(known, flag.Name)
		}
		return next(nil)
	})
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(d.values)) {
		if slices.Contains(known, key) {
			continue
		}
		meant := ""
		if near := suggest.Nearest(key, known); near != "" {
			meant = fmt.Sprintf("; do you mean %q?", near)
		}
		errs = append(errs, fmt.Errorf("%s: unknown flag %q%s", d.name, key, meant))
	}
	return errors.Join(errs...)
}

// Resolve returns a flag's value, nil if there is none. The environment takes precedence over the file.
func (d *defaults) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	return d.values[flag.Name], nil
}
