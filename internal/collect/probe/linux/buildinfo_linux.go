package linux

import (
	"debug/buildinfo"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
)

// buildInfo stores what `go version -m` says of the program. A program that is
// not Go's, or may not be read, has none.
func buildInfo(p *process, about evidence.Subject, sink probe.Sink) {
	info, err := buildinfo.ReadFile(p.dir + "/exe")
	if err != nil {
		return
	}
	exe, err := os.Readlink(p.dir + "/exe")
	if err != nil {
		return
	}
	exe = strings.TrimSuffix(exe, " (deleted)")
	about.Runtime, about.Version = "go", ""
	out, err := sink.Create(capture.Meta{Name: "build.txt", Probe: name, Origin: "go version -m " + exe, About: about})
	if err == nil {
		_, err = io.WriteString(out, formatBuildInfo(exe, info))
		if e := out.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		sink.Warnf("build.txt: %v", err)
	}
}

// formatBuildInfo formats build information as cmd/go/internal/version does.
func formatBuildInfo(exe string, info *debug.BuildInfo) string {
	b := *info
	b.GoVersion = ""
	b.Settings = nil
	for _, s := range info.Settings {
		if flagSettings[s.Key] {
			s.Value = redactFlags(s.Value)
		}
		b.Settings = append(b.Settings, s)
	}
	var w strings.Builder
	w.WriteString(exe + ": " + info.GoVersion + "\n")
	for line := range strings.Lines(b.String()) {
		w.WriteString("\t" + line)
	}
	return w.String()
}

// flagSettings are lists of flags: what they set may be secret, such as
// -ldflags="-X main.token=…".
var flagSettings = map[string]bool{
	"-ldflags": true, "-gcflags": true, "-asmflags": true, "-gccgoflags": true,
	"CGO_CFLAGS": true, "CGO_CPPFLAGS": true, "CGO_CXXFLAGS": true, "CGO_LDFLAGS": true, "CGO_FFLAGS": true,
}

// redactFlags keeps flags and names: what stands behind a "=" goes, and so does
// what is neither a flag nor a name with a value, for it may be the rest of one.
func redactFlags(flags string) string {
	var out []string
	for _, w := range strings.Fields(flags) {
		name, _, valued := strings.Cut(w, "=")
		switch {
		case valued:
			out = append(out, name+"="+redact.Mark)
		case strings.HasPrefix(w, "-"):
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
