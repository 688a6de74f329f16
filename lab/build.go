package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// shared is what the labs' programs have in common. The sources are in the tool
// itself, so that a released one can run labs anywhere.
//
//go:embed service/*.go resp/*.go dependency/*.go
var shared embed.FS

// module is where the sources are built: their import paths are those of the
// repository, and they need nothing else.
const module = "module github.com/unstall/unstall\n\ngo 1.21\n"

var errNoGo = errors.New("the services of a lab are built with Go, and there is no go command on PATH: install Go 1.21 or later (https://go.dev/dl) and put it on PATH")

// sources lays out all a lab is built of, by path.
func (l *Lab) sources() (map[string][]byte, error) {
	files := map[string][]byte{"go.mod": []byte(module)}
	add := func(from fs.FS, below string) error {
		return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			files[path.Join(below, name)], err = fs.ReadFile(from, name)
			return err
		})
	}
	return files, errors.Join(add(shared, "lab"), add(l.Sources, path.Join("lab", l.Name)))
}

// build builds the programs of a lab and returns where each binary is. What was
// built before with the same sources and toolchain is used again.
func (l *Lab) build(ctx context.Context, say func(string)) (map[string]string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, errNoGo
	}
	files, err := l.sources()
	if err != nil {
		return nil, err
	}
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	root = filepath.Join(root, "unstall", "labs")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, tool, "env", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("%s env GOVERSION: %w", tool, err)
	}
	toolchain := strings.TrimSpace(string(version))
	dir := filepath.Join(root, l.Name+"-"+fingerprint(files, toolchain))
	bins := make(map[string]string)
	for _, program := range l.programs() {
		bin := filepath.Join(dir, path.Base(program)+exe())
		bins[program] = bin
		if _, err := os.Stat(bin); err == nil {
			continue
		}
		say(fmt.Sprintf("building %s with %s", path.Base(program), toolchain))
		if err := goBuild(ctx, tool, files, program, bin); err != nil {
			return nil, err
		}
	}
	return bins, nil
}

// dependency is the program all labs share.
const dependency = "lab/dependency"

// programs are the main packages that variants need, below the module.
func (l *Lab) programs() (all []string) {
	for _, v := range l.Variants {
		all = append(all, l.program(v))
		if v.Dependency != nil {
			all = append(all, dependency)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (l *Lab) program(v Variant) string { return path.Join("lab", l.Name, v.Program) }

// fingerprint tells what was built of these sources from what was built of others.
func fingerprint(files map[string][]byte, toolchain string) string {
	h := sha256.New()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(h, "%s %d\n%s", name, len(files[name]), files[name])
	}
	fmt.Fprintln(h, toolchain, runtime.GOOS, runtime.GOARCH)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// goBuild builds in a folder of its own and puts the binary in its place at once:
// two labs may be started at the same time.
func goBuild(ctx context.Context, tool string, files map[string][]byte, program, bin string) error {
	work, err := os.MkdirTemp("", "unstall-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for name, content := range files {
		to := filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", bin, os.Getpid())
	defer os.Remove(fresh)
	cmd := exec.CommandContext(ctx, tool, "build", "-trimpath", "-o", fresh, "./"+program)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=on", "GOFLAGS=", "GOWORK=off")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w: %s", program, err, bytes.TrimSpace(said))
	}
	return os.Rename(fresh, bin)
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
