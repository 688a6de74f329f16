package gostack

import "strings"

// plumbing are the packages between a network wait and the function that wants the answer.
var plumbing = []string{"runtime.", "internal/", "syscall.", "net.", "bufio.", "io.", "crypto/", "os.", "net/textproto.", "time.", "sync.", "context.", "encoding/", "fmt."}

// Dependency names what a network wait is for: the library that waits, or the function of the
// program itself.
func Dependency(funcs []string) string {
	for _, f := range funcs[CountPlumbing(funcs):] {
		if isPlumbing(f) {
			continue
		}
		if strings.HasPrefix(f, "net/http.") {
			return "net/http client"
		}
		if pkg := packageOf(f); strings.Contains(pkg, ".") {
			return pkg // a library: its own functions say less than its name
		}
		return f
	}
	return ""
}

// Writer names the function that writes to the network: of a library, too, as what it writes
// to and why the peer does not read is the program's own affair.
func Writer(funcs []string) string {
	for _, f := range funcs[CountPlumbing(funcs):] {
		if !isPlumbing(f) {
			return f
		}
	}
	return ""
}

func isPlumbing(f string) bool {
	for _, p := range plumbing {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// SystemCall names a call into the kernel, or into C, and the function that made it. It returns "" for calls on connections, which do
// not block: they take only CPU time.
func SystemCall(funcs []string) (name, in string) {
	for i, f := range funcs {
		switch {
		case strings.HasPrefix(f, "net.(*"):
			return "", ""
		case f == "runtime.cgocall" && i+1 < len(funcs):
			return "call of C", " in " + funcs[i+1]
		case name != "" || isTrap(f):
		case strings.HasPrefix(f, "syscall."), strings.HasPrefix(f, "golang.org/x/sys/unix."), strings.HasPrefix(f, "internal/syscall/"):
			name = strings.ToLower(f[strings.LastIndexByte(f, '.')+1:])
		case !isPlumbing(f):
			return "", "" // no system call
		}
		if name != "" && !IsStandard(f) && !strings.HasPrefix(f, "golang.org/x/sys/") {
			return name, " in " + f
		}
	}
	return name, ""
}

// isTrap says whether a function makes any system call, by its number, so that its name says nothing.
func isTrap(f string) bool {
	return strings.HasPrefix(f, "runtime.") || strings.HasPrefix(f, "internal/runtime/") || strings.HasPrefix(f, "golang.org/x/sys/unix.Syscall") ||
		strings.Contains(f, "yscall.Syscall") || strings.Contains(f, "yscall.RawSyscall") || strings.Contains(f, "yscall.syscall") || strings.Contains(f, "yscall.rawSyscall")
}

// CountPlumbing counts how many of the innermost frames are plumbing.
func CountPlumbing(funcs []string) int {
	for i, f := range funcs {
		if !isPlumbing(f) {
			return i
		}
	}
	return len(funcs)
}

// packageOf returns the import path of a function's package.
func packageOf(f string) string {
	slash := strings.LastIndexByte(f, '/') + 1
	if dot := strings.IndexByte(f[slash:], '.'); dot >= 0 {
		return f[:slash+dot]
	}
	return f
}

// standard are the first elements of the paths of Go's own packages.
var standard = func() map[string]bool {
	all := make(map[string]bool)
	for _, p := range strings.Fields("archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak") {
		all[p] = true
	}
	return all
}()

// IsStandard says whether a function belongs to a package of Go's own library.
func IsStandard(f string) bool {
	if first, _, ok := strings.Cut(f, "/"); ok {
		return standard[first]
	}
	first, _, _ := strings.Cut(f, ".")
	return standard[first]
}
