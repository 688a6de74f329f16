package main

import (
	"os"
	"strings"
)

// repeatCommands returns the commands that show a report again. For files it is the typed command, for live targets the one that
// reads the capture. verify follows if it is not empty.
func repeatCommands(capture, verify string) []string {
	if capture == "" && verify == "" {
		return []string{typedCommand()}
	}
	if capture == "" {
		return []string{typedCommand(), verify}
	}
	commands := []string{"unstall " + quoteArg(capture)}
	if verify != "" {
		commands = append(commands, verify)
	}
	return commands
}

// typedCommand returns the command as the user typed it.
func typedCommand() string {
	words := []string{"unstall"}
	for _, a := range os.Args[1:] {
		words = append(words, quoteArg(a))
	}
	return strings.Join(words, " ")
}

// quoteArg quotes an argument for a shell.
func quoteArg(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
