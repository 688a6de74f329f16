package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// archive packs a binary and the files that belong to it: a zip for Windows, else a tar.
func (r *release) archive(t target, bin string, beside []string) error {
	folder := fmt.Sprintf("unstall-%s-%s-%s", r.version, t.os, t.arch)
	name := folder + ".tar.gz"
	if t.os == "windows" {
		name = folder + ".zip"
	}
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer f.Close()
	all := append([]string{bin}, beside...)
	if t.os == "windows" {
		err = r.zip(f, folder, all)
	} else {
		err = r.tar(f, folder, all)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.files = append(r.files, name)
	return f.Close()
}

func (r *release) tar(w io.Writer, folder string, paths []string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		err = t.WriteHeader(&tar.Header{Name: folder + "/" + filepath.Base(path), Mode: modeOf(path), Size: int64(len(text)), ModTime: r.at, Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func (r *release) zip(w io.Writer, folder string, paths []string) error {
	z := zip.NewWriter(w)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: folder + "/" + filepath.Base(path), Method: zip.Deflate, Modified: r.at})
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}

func modeOf(path string) int64 {
	if strings.HasPrefix(filepath.Base(path), "unstall") && !strings.Contains(filepath.Base(path), ".") {
		return 0o755
	}
	return 0o644
}

// checksums writes the checksums of all published files, in the format of sha256sum -c.
func (r *release) checksums() error {
	slices.Sort(r.files)
	var text strings.Builder
	for _, name := range r.files {
		sum, err := checksumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(text.String()), 0o644)
}

func checksumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// krew writes the manifest of the plugin for kubectl (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/), for the existing
// archives. The program recognizes by its name that kubectl runs it.
func (r *release) krew() error {
	var platforms strings.Builder
	for _, t := range targets {
		folder := fmt.Sprintf("unstall-%s-%s-%s", r.version, t.os, t.arch)
		name, bin := folder+".tar.gz", "unstall"
		if t.os == "windows" {
			name, bin = folder+".zip", "unstall.exe"
		}
		if !slices.Contains(r.files, name) {
			continue
		}
		sum, err := checksumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&platforms, `  - selector:
      matchLabels:
        os: %s
        arch: %s
    uri: https://github.com/unstall/unstall/releases/download/v%s/%s
    sha256: %s
    files:
    - from: "%s/*"
      to: .
    bin: %s
`, t.os, t.arch, r.version, name, sum, folder, bin)
	}
	text := fmt.Sprintf(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: unstall
spec:
  version: v%s
  homepage: https://github.com/unstall/unstall
  shortDescription: Find what makes the requests of a pod slow
  description: |
    Records a pod from a sidecar container with the least rights, and says
    which mechanism in its runtime or the kernel makes its requests slow.
  caveats: |
    The container needs an image whose entry point is unstall:
    give it with --image or UNSTALL_IMAGE.
  platforms:
%s`, r.version, platforms.String())
	r.files = append(r.files, "unstall.krew.yaml")
	return os.WriteFile(filepath.Join(r.out, "unstall.krew.yaml"), []byte(text), 0o644)
}

// formula writes a formula for Homebrew, for the existing archives for macOS and Linux.
func (r *release) formula() error {
	var parts strings.Builder
	for _, system := range []struct{ ours, theirs string }{{"darwin", "macos"}, {"linux", "linux"}} {
		fmt.Fprintf(&parts, "  on_%s do\n", system.theirs)
		for _, arch := range []struct{ ours, theirs string }{{"amd64", "intel"}, {"arm64", "arm"}} {
			name := fmt.Sprintf("unstall-%s-%s-%s.tar.gz", r.version, system.ours, arch.ours)
			if !slices.Contains(r.files, name) {
				continue
			}
			sum, err := checksumOf(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&parts, "    on_%s do\n      url \"https://github.com/unstall/unstall/releases/download/v%s/%s\"\n      sha256 \"%s\"\n    end\n", arch.theirs, r.version, name, sum)
		}
		parts.WriteString("  end\n")
	}
	text := fmt.Sprintf(`class Unstall < Formula
  desc "Finds what makes a service's requests slow, in a runtime or the kernel"
  homepage "https://github.com/unstall/unstall"
  version "%s"
  license "Apache-2.0"
%s
  def install
    bin.install "unstall"
    man1.install "unstall.1"
    zsh_completion.install "_unstall"
    bash_completion.install "unstall.bash" => "unstall"
    fish_completion.install "unstall.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/unstall version")
  end
end
`, r.version, parts.String())
	r.files = append(r.files, "unstall.rb")
	return os.WriteFile(filepath.Join(r.out, "unstall.rb"), []byte(text), 0o644)
}

// writePkgbuild writes the recipe of a package for Arch Linux (https://wiki.archlinux.org/title/PKGBUILD), for the existing archives for Linux.
func (r *release) writePkgbuild() error {
	var arches []string
	var sources strings.Builder
	for _, arch := range []struct{ ours, theirs string }{{"amd64", "x86_64"}, {"arm64", "aarch64"}} {
		name := fmt.Sprintf("unstall-%s-linux-%s.tar.gz", r.version, arch.ours)
		if !slices.Contains(r.files, name) {
			continue
		}
		sum, err := checksumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		arches = append(arches, "'"+arch.theirs+"'")
		fmt.Fprintf(&sources, "source_%s=(\"$url/releases/download/v$_version/%s\")\nsha256sums_%[1]s=('%[3]s')\n", arch.theirs, name, sum)
	}
	if len(arches) == 0 {
		return nil
	}
	text := fmt.Sprintf(`pkgname=unstall-bin
_version=%s
pkgver=${_version//-/_}
pkgrel=1
pkgdesc="Finds what makes a service's requests slow, in a runtime or the kernel"
arch=(%s)
url="https://github.com/unstall/unstall"
license=('Apache-2.0')
provides=('unstall')
conflicts=('unstall')
options=('!strip')
%s
package() {
  cd "$srcdir"/unstall-"$_version"-linux-*
  install -Dm755 unstall "$pkgdir/usr/bin/unstall"
  install -Dm644 unstall.1 "$pkgdir/usr/share/man/man1/unstall.1"
  install -Dm644 unstall.bash "$pkgdir/usr/share/bash-completion/completions/unstall"
  install -Dm644 _unstall "$pkgdir/usr/share/zsh/site-functions/_unstall"
  install -Dm644 unstall.fish "$pkgdir/usr/share/fish/vendor_completions.d/unstall.fish"
  install -Dm644 LICENSE "$pkgdir/usr/share/licenses/unstall-bin/LICENSE"
}
`, r.version, strings.Join(arches, " "), sources.String())
	r.files = append(r.files, "PKGBUILD")
	return os.WriteFile(filepath.Join(r.out, "PKGBUILD"), []byte(text), 0o644)
}
