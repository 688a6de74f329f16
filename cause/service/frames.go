package service

import "strings"

// library says whether a function is of the standard library or of a module
// with a domain in its path: not the program's own code, as far as names tell.
func library(f string) bool {
	slash := strings.IndexByte(f, '/')
	first := f
	if slash >= 0 {
		first = f[:slash]
		return !strings.HasPrefix(f, "main.") && (strings.Contains(first, ".") || stdDirs[first])
	}
	dot := strings.IndexByte(first, '.')
	return dot > 0 && stdPackages[first[:dot]]
}

var (
	stdDirs     = map[string]bool{"net": true, "internal": true, "crypto": true, "database": true, "encoding": true, "runtime": true, "container": true, "go": true, "io": true, "log": true, "os": true, "path": true, "sync": true, "text": true, "html": true, "mime": true, "math": true, "compress": true, "archive": true, "vendor": true}
	stdPackages = map[string]bool{"net": true, "runtime": true, "bufio": true, "io": true, "sync": true, "syscall": true, "time": true, "context": true, "fmt": true, "os": true, "bytes": true, "strings": true, "sort": true, "reflect": true, "errors": true, "log": true, "math": true, "slices": true, "maps": true}
)
