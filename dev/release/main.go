// Command release builds everything that a release has, and publishes nothing: the binaries for
// all platforms in archives, packages for Debian and Red Hat with man page, completions and the
// unit of unstall watch, an image for containers, a list of all modules for each binary (SPDX), a
// formula for Homebrew, a recipe for Arch Linux, the manifest of a plugin for kubectl, checksums, and the release notes. It is a
// module of its own, so that the product does not depend on the tools that make packages.
//
// Two runs of it at one commit make the same bytes: paths are trimmed, and every time is that of
// the commit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// target is a platform.
type target struct{ os, arch string }

// targets are the platforms. Only the Linux one diagnoses processes; the others read files, make load,
// compare and report.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// release is a release in progress.
type release struct {
	root    string // of the repository
	out     string
	version string // without v
	at      time.Time
	files   []string // published files, below out
}

func main() {
	root := flag.String("root", "../..", "the repository")
	out := flag.String("out", "out/release", "where everything is put, below the repository")
	version := flag.String("version", "", "the version (default: what git describes)")
	only := flag.String("only", "", "one platform alone, such as linux/amd64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *out, *version, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, out, version, only string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	r := &release{root: root, out: out, version: strings.TrimPrefix(version, "v")}
	if r.version == "" {
		text, err := r.git(ctx, "describe", "--tags", "--always")
		if err != nil {
			return err
		}
		r.version = strings.TrimPrefix(text, "v")
	}
	if !strings.Contains(r.version, ".") { // there is no tag yet
		r.version = "0.0.0-" + r.version
	}
	text, err := r.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	r.at = time.Unix(seconds, 0).UTC()
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.out, "bin"), 0o755); err != nil {
		return err
	}
	beside, err := r.documents(ctx)
	if err != nil {
		return err
	}
	var image layout
	for _, t := range targets {
		if only != "" && only != t.os+"/"+t.arch {
			continue
		}
		fmt.Fprintf(os.Stderr, "release: %s/%s\n", t.os, t.arch)
		bin, err := r.build(ctx, t)
		if err != nil {
			return err
		}
		if err := r.archive(t, bin, beside); err != nil {
			return err
		}
		if err := r.modules(t, bin); err != nil {
			return err
		}
		if t.os == "linux" {
			if err := r.packages(t, bin); err != nil {
				return err
			}
			if err := r.image(&image, t, bin); err != nil {
				return err
			}
		}
	}
	if len(image.manifests) > 0 {
		if err := r.writeImage(&image); err != nil {
			return err
		}
	}
	if err := r.formula(); err != nil {
		return err
	}
	if err := r.krew(); err != nil {
		return err
	}
	if err := r.writePkgbuild(); err != nil {
		return err
	}
	if err := r.notes(); err != nil {
		return err
	}
	return r.checksums()
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(text)), nil
}

// build compiles for a platform, without anything specific to this machine.
func (r *release) build(ctx context.Context, t target) (bin string, err error) {
	bin = filepath.Join(r.out, "bin", t.os+"-"+t.arch, "unstall")
	if t.os == "windows" {
		bin += ".exe"
	}
	return bin, r.compile(ctx, t, bin)
}

func (r *release) compile(ctx context.Context, t target, bin string) error {
	commit, err := r.git(ctx, "describe", "--always", "--dirty", "--match", "-")
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-pgo=dev/bench/reading.pgo", "-ldflags", "-s -w -buildid= -X main.release="+r.version+" -X main.commit="+commit, "-o", bin, "./cmd/unstall")
	c.Dir = r.root
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("building for %s/%s: %w", t.os, t.arch, err)
	}
	return nil
}

// documents writes the man page and the completions, which the program itself prints, and returns
// the files that an archive has beside the program.
func (r *release) documents(ctx context.Context) (beside []string, err error) {
	here := filepath.Join(r.out, "bin", "here", "unstall")
	if err := r.compile(ctx, target{runtime.GOOS, runtime.GOARCH}, here); err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(here))
	for _, d := range []struct {
		name string
		args []string
	}{
		{"unstall.1", []string{"--man"}},
		{"unstall.bash", []string{"completion", "-c", "bash"}},
		{"_unstall", []string{"completion", "-c", "zsh"}},
		{"unstall.fish", []string{"completion", "-c", "fish"}},
	} {
		text, err := exec.CommandContext(ctx, here, d.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("unstall %s: %w", strings.Join(d.args, " "), err)
		}
		said := strings.ReplaceAll(string(text), here, "/usr/bin/unstall")
		if d.name == "_unstall" {
			said = "#compdef unstall\n" + said
		}
		path := filepath.Join(r.out, "bin", d.name)
		if err := os.WriteFile(path, []byte(said), 0o644); err != nil {
			return nil, err
		}
		beside = append(beside, path)
	}
	unit, err := os.ReadFile(filepath.Join(r.root, "deploy/systemd/unstall-watch.service"))
	if err != nil {
		return nil, err
	}
	unit = []byte(strings.ReplaceAll(string(unit), "/usr/local/bin/unstall", "/usr/bin/unstall"))
	if err := os.WriteFile(filepath.Join(r.out, "bin", "unstall-watch.service"), unit, 0o644); err != nil {
		return nil, err
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		beside = append(beside, filepath.Join(r.root, name))
	}
	return beside, nil
}

// notes writes what is new in the version, from CHANGELOG.md: the part below the version's heading,
// or without one the part below the heading of unreleased changes.
func (r *release) notes() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	for _, heading := range []string{r.version, "Unreleased"} {
		for _, section := range strings.Split(string(text), "\n## ")[1:] {
			if first, rest, _ := strings.Cut(section, "\n"); strings.Fields(first)[0] == heading {
				return os.WriteFile(filepath.Join(r.out, "notes.md"), []byte(strings.TrimSpace(rest)+"\n"), 0o644)
			}
		}
	}
	return fmt.Errorf("CHANGELOG.md: there is neither a section %q nor \"Unreleased\": say what is new", r.version)
}
