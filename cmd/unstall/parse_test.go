package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestParse parses lines with a file of defaults and the environment, and checks the wording of errors.
func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), defaultsFile)
	if err := os.WriteFile(file, []byte("slo: 7ms\ncontainer: [shop, web]\nrate: 3\nformat: json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("UNSTALL_FORMAT", "markdown")
	resolver, err := readDefaults(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, err string
		help      string // the command whose help the error names, with a space before it
		holds     func(*cli) bool
	}{
		{line: "a,v2.log b", holds: func(c *cli) bool { return strings.Join(c.Diagnose.Targets, " ") == "a,v2.log b" }},
		{line: "a --fail-on=x,y --slo 2s", holds: func(c *cli) bool { return len(c.Diagnose.FailOn) == 2 && c.Diagnose.SLO.Seconds() == 2 }},
		{line: "a", holds: func(c *cli) bool {
			d := c.Diagnose
			return d.SLO.Milliseconds() == 7 && len(d.Containers) == 2 && *d.Rate == 3 && d.Format == "markdown"
		}},
		{line: "-- -a", holds: func(c *cli) bool { return c.Diagnose.Targets[0] == "-a" }},
		{line: "-", holds: func(c *cli) bool { return c.Diagnose.Targets[0] == "-" }},
		{line: "a --since -10m", holds: func(c *cli) bool { return c.Diagnose.Since.relative.Minutes() == -10 }},
		{line: "load http://h -H a,b -H=c", holds: func(c *cli) bool { return strings.Join(c.Load.Header, " ") == "a,b c" }},
		{line: "compare --before r1 r2 --after r3 r4", holds: func(c *cli) bool { return len(c.Compare.Before) == 2 && c.Compare.After[1] == "r4" }},
		{line: "serve --no-allow-record", holds: func(c *cli) bool { return !c.Serve.AllowRecord && c.Serve.Dir == "." }},
		{line: "run --thp off ls -o=x a,b", holds: func(c *cli) bool { return strings.Join(c.Launch.Command, " ") == "ls -o=x a,b" }},
		{line: "--bogus", err: "unknown flag --bogus"},
		{line: "--formt json", err: `unknown flag --formt, did you mean "--format"?`},
		{line: "load --raet 3 x", err: `unknown flag --raet, did you mean "--rate"?`, help: " load"},
		{line: "record 4711 --load http://h", err: "unknown flag --load: it is a flag of unstall TARGET, unstall compare, unstall try", help: " record"},
		{line: "-z", err: "unknown flag -z"},
		{line: "--slo", err: "--slo: expected duration value"},
		{line: "--slo 3", err: `--slo: "3" has no unit: give 3ms or 3s`},
		{line: "--rate NaN a", err: `--rate: "NaN" is not a number`},
		{line: "--color=green a", err: `--color must be one of "auto","always","never" but got "green"`},
		{line: "load x --ramp 1:2 --steps 2", err: "--ramp and --steps can't be used together", help: " load"},
		{line: "run x", err: "give --thp=off|advised|host", help: " run"},
		{line: "explain", err: "give at least one file", help: " explain"},
		{line: "--slo 1s load x", err: `flag --slo applies to the default command "diagnose", not "load"`},
	} {
		parser := newParser(kong.Resolvers(resolver))
		_, err := parser.Parse(normalizeArgs(strings.Fields(c.line)))
		program := parser.Model.Target.Interface().(cli)
		switch {
		case c.err == "" && (err != nil || !c.holds(&program)):
			t.Errorf("%s: %v", c.line, err)
		case c.err != "" && err == nil:
			t.Errorf("%s: no error, want %s", c.line, c.err)
		case c.err != "" && usageError(err).Error() != c.err+"; see unstall help"+c.help:
			t.Errorf("%s\n got  %v\n want %s", c.line, usageError(err), c.err)
		}
	}
}
