package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/unstall/unstall/suggest"
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
		return nil, fmt.Errorf("%s: this is not YAML of flags and values, such as slo: 300ms: %w", name, err)
	}
	return values, nil
}

// defaults are values for flags from a file. A name that no command has a flag of is an error; one that the command at
// hand has none of is for others.
func defaults(name string) (kong.Resolver, error) {
	if name == "" {
		return kong.ResolverFunc(func(*kong.Context, *kong.Path, *kong.Flag) (any, error) { return nil, nil }), nil
	}
	values, err := readDefaults(name)
	if err != nil {
		return nil, err
	}
	return &fileDefaults{name, values}, nil
}

type fileDefaults struct {
	name   string
	values map[string]any
}

// Validate refuses what is the name of no flag.
func (f *fileDefaults) Validate(app *kong.Application) error {
	var known []string
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if flag, ok := n.(*kong.Flag); ok {
			known = append(known, flag.Name)
		}
		return next(nil)
	})
	var errs []error
	for key := range f.values {
		if slices.Contains(known, key) {
			continue
		}
		meant := ""
		if near := suggest.Nearest(key, known); near != "" {
			meant = fmt.Sprintf("; do you mean %q?", near)
		}
		errs = append(errs, fmt.Errorf("%s: there is no flag %q%s", f.name, key, meant))
	}
	return errors.Join(errs...)
}

// Resolve gives a flag's value, nil none.
func (f *fileDefaults) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	return f.values[flag.Name], nil
}
