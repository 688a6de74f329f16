package arguments

import (
	"slices"
	"strings"
)

// Complete are the words that may stand at the end of a line that is being typed, as shells hand it
// over in COMP_LINE: commands and flags, and values of flags of which all are known. None says that
// the shell should offer files.
func (c *Command) Complete(line string) (all []string) {
	words := strings.Fields(line)
	last := ""
	if !strings.HasSuffix(line, " ") && len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	at, before := c, ""
	if len(words) > 0 {
		words = words[1:] // the program
	}
	for _, word := range words {
		before = word
		for _, sub := range at.Commands {
			if sub.Name == word && !sub.Hidden {
				at = sub
				break
			}
		}
	}
	flags := at.All()
	if at.Default != nil {
		flags = at.Default.All()
	}
	if name, value, ok := strings.Cut(last, "="); ok && flagged(name) {
		before, last = name, value
	}
	for _, f := range flags {
		if f.bool() || !slices.Contains([]string{"--" + f.Name, "-" + string(f.Short)}, before) {
			continue
		}
		return starting(f.Enum, last)
	}
	if strings.HasPrefix(last, "-") {
		names := []string{"--help"}
		for _, f := range flags {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		}
		return starting(names, last)
	}
	var names []string
	for _, sub := range at.Commands {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	for _, v := range at.Arguments {
		names = append(names, v.Enum...)
	}
	return starting(names, last)
}

func starting(names []string, with string) (all []string) {
	for _, name := range names {
		if name != "" && strings.HasPrefix(name, with) {
			all = append(all, name)
		}
	}
	return all
}

// Shells are the texts that make a shell ask PROGRAM what may follow a line of NAME.
var Shells = map[string]string{
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
