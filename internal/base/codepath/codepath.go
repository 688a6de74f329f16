// Package codepath shortens the paths of files of languages that run from their source, such as Python's, to what tells people which file it is.
//
// Its opinion: whose code a function is decides what is named as the cause, and the folder that its file is in shows this.
package codepath

import (
	"slices"
	"strings"
)

// libraries are folders that hold a language's own functions and those of packages; what is below them is no code of the program.
var libraries = []string{
	"site-packages/", "dist-packages/", "lib/python3", // Python
	"node_modules/", // Node.js
}

// apart begin the names of what is in no folder: parts of an interpreter, and code that was made from text.
var apart = []string{"<", "node:", "internal/"}

// engines are files whose compiled code runs a language's functions; what is in them is no code of the program.
var engines = []string{"node"}

// Short returns the end of a file's path: of the program's own its folder and name, of a library's all from the folder on that shows that it is one.
func Short(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if beginsWith(path, apart) {
		return path
	}
	at := -1
	for _, l := range libraries {
		at = max(at, strings.LastIndex("/"+path, "/"+l))
	}
	if at >= 0 {
		return path[at:]
	}
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// OfLibrary reports whether a path that [Short] returned is of a file that is not the program's own.
func OfLibrary(short string) bool {
	return beginsWith(short, libraries) || beginsWith(short, apart) || slices.Contains(engines, short)
}

// Module is what Python calls the code of a file outside of its functions.
const Module = "<module>"

// Package returns the folder or file of the library that a path is of, as [Short] returned it: "site-packages/graphql", "lib/python3.11/json"; "" if it is
// of none.
func Package(short string) string {
	if !OfLibrary(short) {
		return ""
	}
	parts := strings.Split(short, "/")
	until := 2
	if parts[0] == "lib" { // lib/python3.11/json
		until = 3
	}
	return strings.Join(parts[:min(until, len(parts))], "/")
}

// within are parts of languages' own libraries in which threads wait, are started and call what they run: no program does its work there.
var within = []string{"asyncio", "selectors.py", "threading.py", "queue.py", "concurrent", "runpy.py", "socketserver.py", "contextlib.py", "functools.py"}

// IsPlumbing reports whether a path that [Short] returned is of a part of a language's own library that only waits and calls.
func IsPlumbing(short string) bool {
	rest, is := strings.CutPrefix(Package(short), "lib/python3")
	_, part, more := strings.Cut(rest, "/")
	return is && more && slices.Contains(within, part) || strings.HasPrefix(short, "<frozen ")
}

// IsLoop reports whether a function is the one in which an event loop calls what it handles: what is beyond has started the loop.
func IsLoop(function, short string) bool {
	return strings.HasSuffix(function, "_run_once") && strings.HasSuffix(short, "/asyncio/base_events.py")
}

func beginsWith(path string, any []string) bool {
	for _, a := range any {
		if strings.HasPrefix(path, a) {
			return true
		}
	}
	return false
}
