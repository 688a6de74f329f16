package main

import (
	"os"
	"strings"
)

// repeatable are the commands that give a report again: from files that which was
// typed; of live targets that which reads the capture, and what to do with it then.
func repeatable(capture, verify string) []string {
	if capture == "" && verify == "" {
		return []string{typedCommand()}
	}
	if capture == "" {
		return []string{typedCommand(), verify}
	}
	commands := []string{"unstall " + quoted(capture)}
	if verify != "" {
		commands = append(commands, verify)
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
