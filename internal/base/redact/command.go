package redact

import (
	"bytes"
	"slices"
	"strings"
)

// Command returns the command line of a process that nobody here wrote without
// what may be secret, and leaves the given one as it is. It goes further than
// [Args]: of what has no name that says what it is, only that is kept which has the
// form of something harmless. Kept are options and what they set, but not what a
// -D sets unless it is a number, a switch, a path or the JVM's own; and of other
// arguments paths, classes, addresses, numbers and single words.
func Command(args []string) []string {
	out := Args(args)
	for i, a := range out {
		switch {
		case i == 0:
		case strings.HasPrefix(a, "-D"):
			if name, value, ok := strings.Cut(a, "="); ok && !isHarmlessProperty(name[2:], value) {
				out[i] = name + "=" + Mark
			}
		case strings.HasPrefix(a, "-"):
			out[i] = string(Value([]byte(a)))
		case a != Mark && !isHarmlessArgument(a):
			out[i] = maskArgument(a)
		}
	}
	return out
}

// maskArgument keeps the name of NAME=value.
func maskArgument(a string) string {
	name, value, ok := strings.Cut(a, "=")
	switch {
	case ok && (value == "" || strings.HasPrefix(value, Mark)):
		return string(Value([]byte(a)))
	case ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == "":
		return name + "=" + Mark
	}
	return Mark
}

// Words is [Command] for a command line that was joined by spaces.
func Words(line string) string { return strings.Join(Command(strings.Split(line, " ")), " ") }

// isHarmlessProperty says whether what a system property of a JVM is set to may be kept.
func isHarmlessProperty(name, value string) bool {
	if strings.HasPrefix(value, Mark) {
		return true
	}
	for _, own := range []string{"java.", "jdk.", "sun.", "file.encoding", "user.timezone"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return value == "" || value == "true" || value == "false" || isQuantity(value) || strings.HasPrefix(value, "/")
}

// isHarmlessArgument says whether an argument without a name has the form of something harmless.
func isHarmlessArgument(a string) bool {
	b := []byte(a)
	if len(Line(b)) != len(b) || !bytes.Equal(Value(b), b) {
		return false
	}
	if a == "" || isQuantity(a) || a[0] == '/' || strings.HasPrefix(a, "./") || strings.HasPrefix(a, "../") || strings.Contains(a, "://") || hasExtension(a) {
		return true
	}
	host, port, ok := strings.Cut(a, ":")
	if ok && port != "" && isDigits([]byte(port)) && host != "" {
		return dottedWords(host)
	}
	return dottedWords(a)
}

// extensions are those of files that are named on command lines.
var extensions = []string{".jar", ".war", ".dll", ".exe", ".js", ".mjs", ".ts", ".py", ".rb", ".php", ".sh", ".yml", ".yaml", ".json", ".toml", ".conf", ".cfg", ".ini",
	".xml", ".properties", ".txt", ".log", ".pem", ".crt", ".sock", ".class", ".go", ".db", ".unstall", ".jfr"}

func hasExtension(a string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(a, e) })
}

// isQuantity says whether a text is a number, with a unit or without, or a version.
func isQuantity(a string) bool {
	rest := strings.TrimLeft(strings.TrimLeft(strings.TrimPrefix(a, "v"), "+-"), "0123456789.,:_")
	return len(rest) < len(a) && len(rest) <= 3 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%µ") == "" && a != rest
}

// longestPlain is how long a word may be that is kept: commands and names of
// environments are short.
const longestPlain = 16

// dottedWords says whether a text is words of letters between dots, dashes and the
// like, such as a class, a command, a region, a class path; a number may stand at
// their end behind a dash.
func dottedWords(a string) bool {
	if len(a) > longestPlain && !strings.ContainsAny(a, ".-_/:*@") {
		return false
	}
	split := strings.FieldsFunc(a, func(r rune) bool { return strings.ContainsRune(".-_/:*,@", r) })
	for i, w := range split {
		switch {
		case isDigits([]byte(w)):
			if len(w) > 3 || i == 0 {
				return false
			}
		case len(w) > 2*longestPlain || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$()") != "":
			return false
		}
	}
	return len(split) > 0
}

// OverwriteWords puts asterisks over what [Words] would hide.
func OverwriteWords(line []byte) {
	args := strings.Split(string(line), " ")
	at := 0
	for i, safe := range Command(args) {
		from, to := diffRange(args[i], safe)
		for k := at + from; k < at+to; k++ {
			line[k] = '*'
		}
		at += len(args[i]) + 1
	}
}

// diffRange returns which part of an argument is not in its redacted form.
func diffRange(arg, safe string) (from, to int) {
	if arg == safe {
		return 0, 0
	}
	for from < len(arg) && from < len(safe) && arg[from] == safe[from] {
		from++
	}
	to, end := len(arg), len(safe)
	for to > from && end > from && arg[to-1] == safe[end-1] {
		to, end = to-1, end-1
	}
	return from, to
}
