package redact

import (
	"path"
	"strings"
)

// Args returns a command line without its secrets, and does not change its argument. It knows --password=x, --token x, KEY=x,
// -Dpassword=x, what [Line] finds in any argument, and the short options of some programs (curl -u).
func Args(args []string) []string {
	out := make([]string, len(args))
	var short map[string]bool
	glued := false
	if len(args) > 0 {
		name := path.Base(args[0])
		short, glued = shortOptions[name], gluedOptions[name]
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if i > 0 && glued && len(arg) > 2 && short[arg[:2]] {
			out[i] = arg[:2] + Mark
			continue
		}
		out[i] = string(Line([]byte(arg)))
		if i > 0 && i+1 < len(args) && (short[arg] && !glued || takesSecret(arg, args[i+1])) {
			i++
			out[i] = maskValue(args[i])
		}
	}
	return out
}

// takesSecret reports whether a secret follows an option. Java and Go write long options with one dash, too.
func takesSecret(option, next string) bool {
	name := strings.TrimLeft(option, "-")
	if dashes := len(option) - len(name); dashes == 0 || dashes > 2 || len(name) < 2 || strings.ContainsAny(name, "= ") || strings.HasPrefix(next, "-") {
		return false
	}
	switch weighName([]byte(name)) {
	case strong:
		return true
	case weak:
		return looksSecret([]byte(next)) && next[0] != '.' // not a path
	}
	return false
}

// shortOptions are the options that take a secret, by program.
var shortOptions = map[string]map[string]bool{
	"mysql": {"-p": true}, "mysqldump": {"-p": true}, "mysqladmin": {"-p": true}, "mysqlbinlog": {"-p": true},
	"mariadb": {"-p": true}, "mariadb-dump": {"-p": true},
	"redis-cli": {"-a": true}, "redis-benchmark": {"-a": true}, "sshpass": {"-p": true}, "curl": {"-u": true, "-U": true},
	"mongo": {"-p": true}, "mongosh": {"-p": true}, "ldapsearch": {"-w": true},
}

// gluedOptions are the programs whose option has the secret right behind it without a space; without one they prompt.
var gluedOptions = map[string]bool{
	"mysql": true, "mysqldump": true, "mysqladmin": true, "mysqlbinlog": true, "mariadb": true, "mariadb-dump": true,
}

func maskValue(v string) string {
	if harmlessValue([]byte(v)) || v == "" {
		return v
	}
	return Mark
}

// URL returns a URL, or a text given as one, without its secrets.
func URL(s string) string { return string(Line([]byte(s))) }
