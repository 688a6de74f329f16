package main

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	program := newParser().Model.Node
	for line, want := range map[string]string{
		"unstall re":              "record",
		"unstall --base":          "--baseline",
		"unstall --color ":        "auto always never",
		"unstall --color=n":       "never",
		"unstall record --pass":   "--passive",
		"unstall load -o ":        "",
		"unstall completion b":    "bash",
		"unstall record gateway":  "",
		"unstall la":              "",
		"unstall watch --slo ":    "",
		"unstall run --thp=":      "off advised host",
		"unstall":                 "",
		"unstall compare --min-e": "--min-effect",
	} {
		if got := strings.Join(completeLine(program, line), " "); got != want {
			t.Errorf("%q: %s, not %s", line, got, want)
		}
	}
}
