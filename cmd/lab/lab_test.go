package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unstall/unstall/dev/docs/commands"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"unstall-lab": main}) }

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// TestDocumentedCommands parses every command that the documents show.
func TestDocumentedCommands(t *testing.T) {
	n, err := commands.Each("../..", "unstall-lab", func(file, command string, args []string) {
		if _, err := newParser(kong.Exit(func(int) {})).Parse(args); err != nil {
			t.Errorf("%s: %s: %v", file, command, err)
		}
	})
	if err != nil || n < 10 {
		t.Errorf("%d commands were found, %v", n, err)
	}
}
