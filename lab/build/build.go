// Package build builds the programs of labs, in Go and in C#, from sources that
// the tool carries, and keeps what it built in the user's cache directory.
//
// Its opinion: equal sources and an equal toolchain make the same program, which is
// built once. A build fetches nothing: sources use only what comes with the
// toolchain.
package build

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Sources are the contents of files by their slash-separated paths.
type Sources map[string][]byte

// Add adds the files below a folder whose names end in one of the suffixes.
func (s Sources) Add(from fs.FS, below string, suffixes ...string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		ends := func(suffix string) bool { return strings.HasSuffix(name, suffix) }
		if err != nil || d.IsDir() || !slices.ContainsFunc(suffixes, ends) || strings.HasSuffix(name, "_test.go") {
			return err
		}
		s[path.Join(below, name)], err = fs.ReadFile(from, name)
		return err
	})
}

// fingerprintFor returns a name that differs for other sources and for another toolchain.
func (s Sources) fingerprintFor(toolchain string) string {
	h := sha256.New()
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(h, "%s %d\n%s", name, len(s[name]), s[name])
	}
	fmt.Fprintln(h, toolchain, runtime.GOOS, runtime.GOARCH)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// layOut writes the files below a folder.
func (s Sources) layOut(dir string) error {
	for name, content := range s {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cacheFolder returns the folder for what is built of sources with a toolchain.
func (s Sources) cacheFolder(name, toolchain string) (string, error) {
	dir := filepath.Join(toolCacheDir(), "labs", name+"-"+s.fingerprintFor(toolchain))
	return dir, os.MkdirAll(filepath.Dir(dir), 0o755)
}

// toolCacheDir returns the tool's own part of the user's cache directory.
func toolCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "unstall")
}
