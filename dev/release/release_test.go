package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const version = "0.1.0"

// largest is the maximal size of the binary, bytes.
const largest = 64_000_000

// built makes the release for a platform.
func built(t *testing.T, only string) string {
	t.Helper()
	out := t.TempDir()
	if err := run(t.Context(), "../..", out, version, only); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRelease builds twice, in two folders, and checks the files.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	one, two := built(t, "linux/amd64"), built(t, "linux/amd64")
	text, err := os.ReadFile(filepath.Join(one, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(two, "checksums.txt"))
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("two builds differ, %v:\n%s\n%s", err, text, again)
	}
	for _, name := range []string{"unstall-0.1.0-linux-amd64.tar.gz", "unstall_0.1.0_amd64.deb", "unstall-0.1.0-1.x86_64.rpm", "unstall-0.1.0-linux-amd64.spdx.json", "unstall-0.1.0-image.tar", "unstall.rb", "unstall.krew.yaml", "PKGBUILD"} {
		if !strings.Contains(string(text), "  "+name+"\n") {
			t.Errorf("there is no %s", name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(one, "notes.md")); err != nil || len(text) < 1000 || strings.Contains(string(text), "\n## ") {
		t.Errorf("what is new: %v, %d bytes", err, len(text))
	}
	held := archived(t, filepath.Join(one, "unstall-0.1.0-linux-amd64.tar.gz"))
	for _, name := range []string{"unstall", "unstall.1", "unstall.bash", "_unstall", "unstall.fish", "README.md", "CHANGELOG.md", "LICENSE"} {
		if held["unstall-0.1.0-linux-amd64/"+name] == 0 {
			t.Errorf("the archive has no %s: %v", name, held)
		}
	}
	if size := held["unstall-0.1.0-linux-amd64/unstall"]; size > largest {
		t.Errorf("the binary has %d bytes, at most %d", size, largest)
	}
	var sbom struct {
		Packages []struct{ Name, VersionInfo string }
	}
	text, err = os.ReadFile(filepath.Join(one, "unstall-0.1.0-linux-amd64.spdx.json"))
	if err == nil {
		err = json.Unmarshal(text, &sbom)
	}
	found := false
	for _, p := range sbom.Packages {
		found = found || p.Name == "github.com/cilium/ebpf" && p.VersionInfo != ""
		if strings.Contains(p.Name, "chromedp") || strings.Contains(p.Name, "testscript") {
			t.Errorf("the program holds %s, which is for tests", p.Name)
		}
	}
	if err != nil || !found {
		t.Errorf("the list of modules: %v, %d", err, len(sbom.Packages))
	}
	t.Run("homebrew", func(t *testing.T) { homebrew(t, one) })
	t.Run("arch", func(t *testing.T) { arch(t, one) })
	t.Run("install", func(t *testing.T) { install(t, filepath.Join(one, "unstall_0.1.0_amd64.deb")) })
	t.Run("empty", func(t *testing.T) { empty(t, filepath.Join(one, "bin/linux-amd64/unstall")) })
	t.Run("image", func(t *testing.T) { image(t, filepath.Join(one, "unstall-0.1.0-image.tar")) })
}

func archived(t *testing.T, path string) map[string]int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = h.Size
	}
}

// fixture is a log that unstall reads.
const fixture = "../../internal/diagnose/check/testdata/go.gc-rate/sick/gctrace.log"

// install installs the package into a Debian without Go, and diagnoses a file and a process there.
func install(t *testing.T, deb string) {
	if os.Geteuid() != 0 {
		t.Skip("another root directory takes root")
	}
	base, err := exec.Command("bash", "../tools/rootfs.sh", "find").Output()
	if err != nil {
		t.Skip("there is no Debian to install into: dev/tools/rootfs.sh fetches one")
	}
	root := filepath.Join(t.TempDir(), "root")
	if text, err := exec.Command("cp", "-a", strings.TrimSpace(string(base)), root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	copied(t, deb, filepath.Join(root, "tmp/unstall.deb"))
	copied(t, fixture, filepath.Join(root, "tmp/gctrace.log"))
	within := func(command string) string {
		t.Helper()
		// In a mount namespace of its own, so that /proc is there and nothing stays mounted.
		c := exec.Command("sh", "-c", `mount --make-rprivate / && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" /bin/bash -c "$2"`, "sh", root, command)
		c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "TERM=dumb"}
		c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, text)
		}
		return string(text)
	}
	if said := within("command -v go java dotnet || true"); said != "" {
		t.Errorf("it is no fresh Debian: %s", said)
	}
	within("dpkg --force-depends --install /tmp/unstall.deb")
	if said := within("unstall version"); !strings.Contains(said, version) {
		t.Errorf("unstall version says %s", said)
	}
	if said := within("unstall /tmp/gctrace.log"); !strings.Contains(said, "from gctrace.log (gctrace)") {
		t.Errorf("of a file it says %s", said)
	}
	if said := within("cd /tmp; sleep 60 & unstall $! --for 1s --no-kernel; kill $!"); !strings.Contains(said, "sleep") || !strings.Contains(said, "saved sleep-") {
		t.Errorf("of a process it says %s", said)
	}
	if said := within("cat /usr/share/bash-completion/completions/unstall; grep ExecStart= /lib/systemd/system/unstall-watch.service; dpkg --verify unstall"); !strings.Contains(said, "-C /usr/bin/unstall") || !strings.Contains(said, "ExecStart=/usr/bin/unstall watch") {
		t.Errorf("installed is %s", said)
	}
	within("dpkg --remove unstall && test ! -e /usr/bin/unstall")
}

// homebrew checks that the formula is Ruby and has the archive's checksum.
func homebrew(t *testing.T, dir string) {
	formula := filepath.Join(dir, "unstall.rb")
	text, err := os.ReadFile(formula)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := checksumOf(filepath.Join(dir, "unstall-0.1.0-linux-amd64.tar.gz")); err != nil || !strings.Contains(string(text), `sha256 "`+sum+`"`) {
		t.Errorf("%v: no checksum %s:\n%s", err, sum, text)
	}
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("no ruby to check the formula with")
	}
	if said, err := exec.Command(ruby, "-c", formula).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// arch makes the package of Arch Linux as makepkg does, from the archive that the recipe names, and runs what it holds.
func arch(t *testing.T, dir string) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to run the recipe with")
	}
	c := exec.Command(bash, "-euc", `. "$1/PKGBUILD"
		srcdir=$2/src pkgdir=$2/pkg
		mkdir -p "$srcdir" "$pkgdir"
		archive=$1/${source_x86_64##*/}
		echo "$sha256sums_x86_64  $archive" | sha256sum --check --status
		tar -xzf "$archive" -C "$srcdir"
		package
		"$pkgdir/usr/bin/unstall" version
		cd "$pkgdir" && find . -type f | sort`, "bash", dir, t.TempDir())
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{version, "./usr/bin/unstall", "./usr/share/man/man1/unstall.1", "./usr/share/licenses/unstall-bin/LICENSE"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("no %s in %s", want, said)
		}
	}
}

// empty runs the program in an empty root.
func empty(t *testing.T, bin string) {
	if os.Geteuid() != 0 {
		t.Skip("another root directory takes root")
	}
	root := t.TempDir()
	copied(t, bin, filepath.Join(root, "unstall"))
	copied(t, fixture, filepath.Join(root, "gctrace.log"))
	for _, args := range [][]string{{"version"}, {"gctrace.log"}, {"help"}} {
		c := exec.Command("/unstall", args...)
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		c.Dir, c.Env = "/", []string{}
		if text, err := c.CombinedOutput(); err != nil {
			t.Errorf("unstall %v: %v: %s", args, err, text)
		}
	}
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestArm runs the build for 64-bit ARM, under qemu on other machines.
func TestArm(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	var by []string
	if runtime.GOARCH != "arm64" {
		qemu, err := exec.Command("bash", "../tools/qemu.sh", "find").Output()
		if err != nil && os.Getenv("QEMU") == "" {
			t.Skip("nothing here runs programs for arm64: dev/tools/qemu.sh fetches it")
		} else if err != nil {
			t.Fatal(err)
		}
		by = []string{strings.TrimSpace(string(qemu))}
	}
	out := built(t, "linux/arm64")
	for want, args := range map[string][]string{version: {"version"}, "from gctrace.log (gctrace)": {fixture}} {
		command := append(append(by[:len(by):len(by)], filepath.Join(out, "bin/linux-arm64/unstall")), args...)
		c := exec.Command(command[0], command[1:]...)
		if text, err := c.CombinedOutput(); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("unstall %v: %v: %s", args, err, text)
		}
	}
	_, text := parts(t, filepath.Join(out, "unstall-0.1.0-image.tar"))
	if !strings.Contains(text, `"architecture":"arm64"`) {
		t.Errorf("the image is for %s", text)
	}
}

// BenchmarkStart measures how long the program takes to start: the target is 30 ms at most.
func BenchmarkStart(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "unstall")
	r := &release{root: "../..", version: version}
	if err := r.compile(b.Context(), target{"linux", "amd64"}, bin); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := exec.Command(bin, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
