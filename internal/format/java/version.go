// Package java has what the formats of a JVM share.
package java

import "strings"

// Version returns a JVM's version in the form of its system property java.version, from
// the forms that HotSpot prints elsewhere, so that all name one version: "17.0.15" for
// "17.0.15+6-Debian-1deb12u1" and "OpenJDK … (build 17.0.15+6, mixed mode)"'s 17.0.15+6,
// "1.8.0_144" for "8.0_144", "1.8.0_144-b01" and 25.144-b01, the version of JDK 8's
// virtual machine. It returns "" if the version is unknown: before JDK 7u40 the virtual machine has
// numbers of its own (https://openjdk.org/jeps/223).
func Version(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '_' })
	number, rest := text, ""
	if end >= 0 {
		number, rest = text[:end], text[end:]
	}
	number = strings.TrimRight(number, "._")
	major, update, _ := strings.Cut(number, ".")
	if major == "" || number[0] == '.' || number[0] == '_' {
		return ""
	}
	machine := strings.HasPrefix(rest, "-b") && !strings.Contains(update, ".") && !strings.Contains(number, "_")
	switch {
	case machine && major == "25": // JDK 25's have a + before the build
		return "1.8.0_" + update
	case machine && major == "24":
		return "1.7.0_" + update
	case machine && len(major) == 2:
		return ""
	case len(major) == 1 && major != "1" && major <= "8": // VM.version's "JDK 8.0_144"
		return "1." + number[:1] + ".0" + strings.TrimPrefix(number[1:], ".0")
	}
	return number
}
