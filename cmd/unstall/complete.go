package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeLine returns the words that may end a line being typed: commands, flags and the values of an enumeration. Shells
// pass the line in COMP_LINE. If it returns no words, the shell offers files.
func completeLine(program *kong.Node, line string) []string {
	words := strings.Fields(line)
	last := ""
	if !strings.HasSuffix(line, " ") && len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	node, before := program, ""
	for i, word := range words {
		if before = word; i == 0 { // the first word is the program
			continue
		}
		for _, sub := range node.Children {
			if sub.Name == word && !sub.Hidden {
				node = sub
				break
			}
		}
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "-") {
		before, last = name, value
	}
	flags := slices.Concat(node.AllFlags(true)...)
	if node.DefaultCmd != nil {
		flags = slices.Concat(node.DefaultCmd.AllFlags(true)...)
	}
	for _, f := range flags {
		if !f.IsBool() && (before == "--"+f.Name || f.Short != 0 && before == "-"+string(f.Short)) {
			return withPrefix(f.EnumSlice(), last)
		}
	}
	var names []string
	if strings.HasPrefix(last, "-") {
		for _, f := range flags {
			names = append(names, "--"+f.Name)
		}
		return withPrefix(names, last)
	}
	for _, sub := range node.Children {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	for _, v := range node.Positional {
		names = append(names, v.EnumSlice()...)
	}
	return withPrefix(names, last)
}

func withPrefix(names []string, prefix string) (all []string) {
	for _, name := range names {
		if name != "" && strings.HasPrefix(name, prefix) {
			all = append(all, name)
		}
	}
	return all
}

// shellCode makes a shell ask PROGRAM what may follow a line of NAME.
var shellCode = map[string]string{
	"bash": "complete -o default -o bashdefault -C PROGRAM NAME\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -o default -o bashdefault -C PROGRAM NAME\n",
	"fish": `function __complete_NAME
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    PROGRAM
end
complete -f -c NAME -a "(__complete_NAME)"
`,
}
