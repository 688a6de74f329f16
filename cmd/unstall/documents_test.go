package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/dev/docs/commands"
)

// TestDocumentedCommands parses every command in the documents, so that each of its flags exists.
func TestDocumentedCommands(t *testing.T) {
	n, err := commands.Each("../..", "unstall", func(file, command string, args []string) {
		if len(args) == 0 {
			return // the list
		}
		if _, err := newParser(kong.Exit(func(int) {})).Parse(args); err != nil {
			t.Errorf("%s: %s: %v", file, command, err)
		}
		if args[0] == "lab" {
			t.Errorf("%s: %s: unstall-lab runs incidents", file, command)
		}
	})
	if err != nil || n < 50 {
		t.Errorf("%d commands were found, %v", n, err)
	}
}
