package redact

import (
	"bytes"
	"slices"
	"strings"
)

// Command returns a foreign process's command line without possible secrets, and does not change its argument. It goes further than
// [Args]: where no name tells what a value is, it keeps only harmless forms. It keeps options and their values, but a value of -D only if
// it is a number, a switch, a path or the JVM's own; of other arguments it keeps paths, classes, addresses, numbers and single words.
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

// Words is [Command] for a command line joined by spaces.
func Words(line string) string { return strings.Join(Command(strings.Split(line, " ")), " ") }

// isHarmlessProperty reports whether the value of a JVM's system property may be kept.
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

// extensions are those of files on command lines.
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

// longestPlain is the longest word that is kept: commands and names of environments are short.
const longestPlain = 16

// dottedWords reports whether a text is words of letters joined by dots, dashes and similar, such as a class, a command, a region, a class
// path; a number may follow a dash at its end.
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

// OverwriteWords puts asterisks over what [Words] hides.
func OverwriteWords(line []byte) {
	args := strings.Split(string(line), " ")
	at := 0
	for i, safe := range Command(args) {
		from, to := DiffRange(args[i], safe)
		for k := at + from; k < at+to; k++ {
			line[k] = '*'
		}
		at += len(args[i]) + 1
	}
}

// DiffRange returns the part of an argument that its redacted form lacks.
func DiffRange(arg, safe string) (from, to int) {
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
