package main

import (
	"os"
	"strings"
)

// repeatable are the commands that give a report again: from files that which was
// typed; of live targets that which reads the capture, and what to do with it then.
func repeatable(capture string, live []string) []string {
	if capture == "" {
		return []string{typedCommand()}
	}
	commands := []string{"unstall " + quoted(capture)}
	if len(live) == 1 {
		commands = append(commands, "unstall compare "+quoted(capture)+" "+quoted(live[0]))
	}
	return commands
}

// typedCommand is the command as it was typed.
func typedCommand() string {
	words := []string{"unstall"}
	for _, a := range os.Args[1:] {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// quoted writes an argument so that a shell takes it for one.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
