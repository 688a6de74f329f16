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

// Release returns the version of the program itself, as its developers count it, "" if no source gives it. The first source counts: its
// environment, its container's labels, its image's tag, else the version built into it. The last depends on the runtime: built finds
// it from the process's folder in /proc; nil means that the runtime has no known place. Release opens files; call it once per process.
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

// releaseVars are environment variables that give telemetry the version.
var releaseVars = []string{"DD_VERSION", "SERVICE_VERSION", "APP_VERSION", "HEROKU_RELEASE_VERSION", "K_REVISION"}

// toldByEnvironment reads the version from OpenTelemetry's resource
// (https://opentelemetry.io/docs/specs/semconv/resource/#service), and from variables that only hold a version.
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

// releaseLabels are labels of images (https://specs.opencontainers.org/image-spec/annotations/) and of pods
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

// tagOf returns an image's tag: 1.4.2 for "registry:5000/shop:1.4.2@sha256:…". It ignores latest, which names no version.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if tag == "latest" {
		return ""
	}
	return tag
}

// ReleaseOfBuild returns the main module's version from `go version -m`, or the revision it was built from.
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

// ReleaseOfJar returns the version in the manifest of the jar that a command line runs, or in the jar's name.
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

// ReleaseOfAssembly returns the version of the assembly that a command line runs, or that lies beside its launcher.
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

// argumentOf returns the first argument that is a file with a given ending and follows a given argument, "" any, as a path that this
// process can open.
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

// manifestVersions are attributes of a jar's manifest
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

// nameVersion matches the version in "orders-1.4.2-SNAPSHOT.jar".
var nameVersion = regexp.MustCompile(`-(\d[\w.+-]*)\.jar$`)

func ofName(name string) string {
	if m := nameVersion.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// ofAssembly reads the version of an assembly from its list of dependencies, which names the assembly itself first
// (https://github.com/dotnet/sdk/blob/main/documentation/specs/runtime-configuration-file.md).
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

// mostRead bounds what is read from a file, in bytes.
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

// longest is the longest version that stores get, in characters. The beginning of a revision identifies it.
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
