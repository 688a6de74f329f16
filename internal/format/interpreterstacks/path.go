package interpreterstacks

import "strings"

// libraries are folders that hold a language's own functions and those of packages; what is below them is no code of the program.
var libraries = []string{
	"site-packages/", "dist-packages/", "lib/python3", // Python
	"node_modules/", // Node.js
}

// ownNames begin the names of files that are in no folder: parts of the interpreter, and code that was made from text.
var ownNames = []string{"<", "node:", "internal/"}

// shortPath returns the end of a file's path that tells people which file it is: of the program's own its folder and name, of a library's all from
// the folder on that shows that it is one.
func shortPath(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	for _, own := range ownNames {
		if strings.HasPrefix(path, own) {
			return path
		}
	}
	at := -1
	for _, l := range libraries {
		if i := strings.LastIndex("/"+path, "/"+l); i > at {
			at = i
		}
	}
	if at >= 0 {
		return path[at:]
	}
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
