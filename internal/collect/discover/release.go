package discover

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Release is the version of the program itself, as its own people count, "" where nothing tells it:
// what they say of it in its environment or its container's labels, its image's tag, else what was built
// into it, which depends on what it runs on: built finds that below the process's folder of /proc; nil: nobody
// knows where. It opens files, and is asked once for each process.
func (t Target) Release(built func(dir string, t Target) string) string {
	if t.PID == 0 {
		return ""
	}
	return findRelease(fmt.Sprintf("/proc/%d", t.PID), t, built)
}

func findRelease(dir string, t Target, built func(dir string, t Target) string) string {
	for _, told := range []func() string{
		func() string { return toldByEnvironment(readSmall(dir + "/environ")) },
		func() string { return firstOf(t.In.Labels, releaseLabels) },
		func() string { return tagOf(t.In.Image) },
	} {
		if v := told(); v != "" {
			return shortRelease(v)
		}
	}
	if built == nil {
		return ""
	}
	return shortRelease(built(dir, t))
}

// releaseVars are variables that people tell their telemetry the version by.
var releaseVars = []string{"DD_VERSION", "SERVICE_VERSION", "APP_VERSION", "HEROKU_RELEASE_VERSION", "K_REVISION"}

// toldByEnvironment reads the version of OpenTelemetry's resource
// (https://opentelemetry.io/docs/specs/semconv/resource/#service), and variables that say nothing else.
func toldByEnvironment(environ []byte) string {
	of := make(map[string]string)
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(line), "=")
		if name == "OTEL_RESOURCE_ATTRIBUTES" {
			for pair := range strings.SplitSeq(value, ",") {
				if v, ok := strings.CutPrefix(strings.TrimSpace(pair), "service.version="); ok {
					return v
				}
			}
		}
		if slices.Contains(releaseVars, name) {
			of[name] = value
		}
	}
	return firstOf(of, releaseVars)
}

// releaseLabels are those of images (https://specs.opencontainers.org/image-spec/annotations/) and of pods
// (https://kubernetes.io/docs/reference/labels-annotations-taints/).
var releaseLabels = []string{"org.opencontainers.image.version", "app.kubernetes.io/version", "org.opencontainers.image.revision"}

func firstOf(values map[string]string, names []string) string {
	for _, name := range names {
		if v := values[name]; v != "" {
			return v
		}
	}
	return ""
}

// tagOf is an image's tag: "registry:5000/shop:1.4.2@sha256:…" has 1.4.2. One that everything has in turn
// tells nothing.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if tag == "latest" {
		return ""
	}
	return tag
}

// ReleaseOfBuild is what `go version -m` says of the main module, or the revision it was built from.
func ReleaseOfBuild(dir string, _ Target) string {
	info, err := buildinfo.ReadFile(dir + "/exe")
	if err != nil {
		return ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// ReleaseOfJar is what the manifest of the jar says that a command line runs, or its name.
func ReleaseOfJar(dir string, _ Target) string {
	path := argumentOf(dir, "-jar", ".jar")
	if path == "" {
		return ""
	}
	if v := ofJar(path); v != "" {
		return v
	}
	return ofName(filepath.Base(path))
}

// ReleaseOfAssembly is that of the assembly that a command line runs, or that lies beside its own launcher.
func ReleaseOfAssembly(dir string, _ Target) string {
	if path := argumentOf(dir, "", ".dll"); path != "" {
		return ofAssembly(path)
	}
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return ""
	}
	return ofAssembly(dir + "/root" + exe + ".dll")
}

// argumentOf is the first argument that is such a file and stands behind another, "" any, as this process
// can open it.
func argumentOf(dir, behind, suffix string) string {
	args := strings.Split(string(readSmall(dir+"/cmdline")), "\x00")
	for i, arg := range args[1:] {
		switch {
		case !strings.HasSuffix(arg, suffix), strings.HasPrefix(arg, "-"), behind != "" && args[i] != behind:
		case filepath.IsAbs(arg):
			return dir + "/root" + arg
		default:
			return dir + "/cwd/" + arg
		}
	}
	return ""
}

// manifestVersions are lines of a jar's manifest
// (https://docs.oracle.com/en/java/javase/21/docs/specs/jar/jar.html#main-attributes).
var manifestVersions = []*regexp.Regexp{regexp.MustCompile(`(?m)^Implementation-Version: *(\S+)\s*$`), regexp.MustCompile(`(?m)^Bundle-Version: *(\S+)\s*$`)}

func ofJar(path string) string {
	z, err := zip.OpenReader(path)
	if err != nil {
		return ""
	}
	defer z.Close()
	for _, f := range z.File {
		if f.Name != "META-INF/MANIFEST.MF" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return ""
		}
		defer r.Close()
		text, _ := io.ReadAll(io.LimitReader(r, mostRead))
		for _, version := range manifestVersions {
			if m := version.FindSubmatch(text); m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}

// nameVersion is the end of "orders-1.4.2-SNAPSHOT.jar".
var nameVersion = regexp.MustCompile(`-(\d[\w.+-]*)\.jar$`)

func ofName(name string) string {
	if m := nameVersion.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// ofAssembly reads the version of an assembly from the list of what it depends on, which names itself
// first (https://github.com/dotnet/sdk/blob/main/documentation/specs/runtime-configuration-file.md).
func ofAssembly(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".dll")
	var list struct {
		Libraries map[string]struct{ Type string }
	}
	if json.Unmarshal(readSmall(strings.TrimSuffix(path, ".dll")+".deps.json"), &list) != nil {
		return ""
	}
	for library, of := range list.Libraries {
		if id, version, ok := strings.Cut(library, "/"); ok && id == name && of.Type == "project" {
			return version
		}
	}
	return ""
}

// mostRead bounds what is read of a file, bytes.
const mostRead = 4 << 20

func readSmall(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, mostRead))
	return text
}

// longest is how long a version may be that stores are told: a revision is known by its beginning.
const longest = 40

var revision = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

func shortRelease(v string) string {
	v = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, v)
	if revision.MatchString(v) {
		return v[:12]
	}
	return v[:min(len(v), longest)]
}
