package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes the packages for Debian and Red Hat.
func (r *release) packages(t target, bin string) error {
	manual, err := r.compressed("unstall.1")
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(r.out, "bin", name) }
	file := func(from, to string, mode os.FileMode) *files.Content {
		return &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.at}}
	}
	for _, format := range []string{"deb", "rpm"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "unstall", Arch: t.arch, Platform: "linux", Version: r.version, Section: "utils", Priority: "optional", MTime: r.at,
			Maintainer: "The unstall authors <unstall@users.noreply.github.com>", Homepage: "https://github.com/unstall/unstall", License: "Apache-2.0",
			Description: "finds what makes a service's requests slow\nunstall finds which mechanism in a runtime (JVM, .NET, Go, Redis) or the Linux kernel\nmakes a service's requests slow, proves it in milliseconds of request time, and says what to change.",
			Overridables: nfpm.Overridables{Contents: files.Contents{
				file(bin, "/usr/bin/unstall", 0o755),
				file(manual, "/usr/share/man/man1/unstall.1.gz", 0o644),
				file(in("unstall.bash"), "/usr/share/bash-completion/completions/unstall", 0o644),
				file(in("_unstall"), "/usr/share/zsh/vendor-completions/_unstall", 0o644),
				file(in("unstall.fish"), "/usr/share/fish/vendor_completions.d/unstall.fish", 0o644),
				file(in("unstall-watch.service"), "/lib/systemd/system/unstall-watch.service", 0o644),
				file(filepath.Join(r.root, "LICENSE"), "/usr/share/doc/unstall/copyright", 0o644),
			}},
		})
		info.RPM.BuildHost = "unstall"
		name := packager.ConventionalFileName(info)
		f, err := os.Create(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		if err := packager.Package(info, f); err != nil {
			_ = f.Close()
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
		r.files = append(r.files, name)
	}
	return nil
}

// compressed returns the path of a document, compressed as packages demand.
func (r *release) compressed(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.out, "bin", name))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	path := filepath.Join(r.out, "bin", name+".gz")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}
