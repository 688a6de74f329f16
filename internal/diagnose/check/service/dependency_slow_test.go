package service

import (
	"strings"
	"testing"
)

// A command that waits for data keeps its connection; another one that takes long occupies the server.
func TestBlockingCommand(t *testing.T) {
	for whom, want := range map[string]string{
		"Redis at 10.0.0.9:6379 (BLPOP)":      "connections of their own",
		"Redis at 10.0.0.9:6379 (XREADGROUP)": "connections of their own",
		"Redis at 10.0.0.9:6379 (LPOP)":       "SLOWLOG",
		"Redis at 10.0.0.9:6379":              "SLOWLOG",
	} {
		if got := boundOf(whom).Text; !strings.Contains(got, want) {
			t.Errorf("%s: %s", whom, got)
		}
	}
}
