package redact

import (
	"path"
	"strings"
)

// Args returns a command line without its secrets, and leaves the given one as
// it is. It knows --password=x, --token x, KEY=x, -Dpassword=x, what [Line]
// finds in any argument, and the short options of programs in [shortOptions].
func Args(args []string) []string {
	out := make([]string, len(args))
	var short map[string]bool
	if len(args) > 0 {
		short = shortOptions[program(args[0])]
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		out[i] = argument(arg)
		next := func() {
			if i+1 < len(args) {
				i++
				out[i] = hidden(args[i])
			}
		}
		switch {
		case i == 0:
		case strings.HasPrefix(arg, "--") && !strings.ContainsAny(arg, "= "):
			if w := weigh([]byte(strings.TrimLeft(arg, "-"))); w == harmless || i+1 == len(args) {
				break
			} else if v := args[i+1]; !strings.HasPrefix(v, "-") && (w == strong || long([]byte(v)) && !strings.HasPrefix(v, ".")) {
				next()
			}
		case len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && !strings.Contains(arg, "="):
			// Java and Go write long options with one dash; mysql -pSECRET.
			if short[arg[:2]] {
				out[i] = arg[:2] + Mark
			} else if weigh([]byte(arg[1:])) == strong && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				next()
			}
		case short[arg] && !attached[program(args[0])]:
			next()
		}
	}
	return out
}

// shortOptions are those that take a secret, by program. mysql's -p is followed
// by the secret without a space or asks for it.
var shortOptions = map[string]map[string]bool{
	"mysql": {"-p": true}, "mysqldump": {"-p": true}, "mysqladmin": {"-p": true}, "mariadb": {"-p": true},
	"mariadb-dump": {"-p": true}, "mysqlbinlog": {"-p": true},
	"redis-cli": {"-a": true}, "redis-benchmark": {"-a": true}, "sshpass": {"-p": true}, "curl": {"-u": true, "-U": true},
	"mongo": {"-p": true}, "mongosh": {"-p": true}, "ldapsearch": {"-w": true},
}

var attached = map[string]bool{
	"mysql": true, "mysqldump": true, "mysqladmin": true, "mariadb": true, "mariadb-dump": true, "mysqlbinlog": true,
}

func program(arg string) string { return path.Base(arg) }

// argument redacts one by itself. A name with a value counts even if it is weak,
// where the value is long.
func argument(arg string) string { return string(Line([]byte(arg))) }

func hidden(v string) string {
	if harmlessValue([]byte(v)) || v == "" {
		return v
	}
	return Mark
}

// URL returns a URL, or whatever was given as one, without its secrets.
func URL(s string) string { return string(Line([]byte(s))) }
