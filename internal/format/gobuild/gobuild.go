// Package gobuild reads what `go version -m` prints of a Go program: the version
// it was built with, its modules and its build settings.
//
//	/usr/bin/gateway: go1.26.8
//		path	example.com/gateway
//		mod	example.com/gateway	v1.4.0	h1:…
//		dep	golang.org/x/net	v0.30.0	h1:…
//		=>	example.com/net	v0.30.1	h1:…
//		build	-ldflags="-s -w"
//		build	CGO_ENABLED=0
//		build	vcs.revision=6d0f2c…
//
// cmd/go/internal/version prints this text, from debug.BuildInfo.String;
// it has settings from Go 1.18 on, and always the version. Several programs may
// follow each other. Experiments are part of the version: "go1.26.8
// X:nogreenteagc".
//
// The package's opinion: the exact version decides which advice holds, and
// traces and profiles do not have it.
package gobuild

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of go version -m.
var Format = format.Format{
	Name:  "gobuild",
	About: "build information of Go programs: go version -m",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

// Names of facts; a build setting has its own name.
const (
	FactExperiment = "GOEXPERIMENT" // "nogreenteagc"
)

// Bounds of what is kept.
const (
	maxPrograms = 256
	maxSettings = 128
	maxModules  = 4096
	maxValue    = 1024
)

// matchHead demands a program's line and a line of the kind that follows it.
func matchHead(head []byte) format.Confidence {
	first, rest, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if _, ok := parseProgram(trimReturn(first)); !ok {
		return format.No
	}
	kind, _, ok := parseDetail(trimReturn(second))
	if !ok || kind == "=>" {
		return format.No
	}
	return format.Sure
}

func trimReturn(line []byte) string { return string(bytes.TrimSuffix(line, []byte("\r"))) }

// built is the first line of a program.
type built struct {
	file, version, experiments string
}

// parseProgram reads "FILE: go1.26.8 X:nogreenteagc".
func parseProgram(line string) (built, bool) {
	i := strings.LastIndex(line, ": ")
	if i <= 0 || line[0] == '\t' || line[0] == ' ' {
		return built{}, false
	}
	b := built{file: line[:i]}
	words := strings.Fields(line[i+2:])
	if len(words) > 1 && words[0] == "devel" { // "devel go1.27-1a2b3c Thu Nov 5 …"
		words = words[1:]
	}
	if len(words) == 0 || !isVersion(words[0]) {
		return built{}, false
	}
	b.version = words[0]
	for _, w := range words[1:] {
		if x, ok := strings.CutPrefix(w, "X:"); ok {
			b.experiments = x
		}
	}
	return b, true
}

// isVersion says whether a word is like go1.26.8, go1.27rc1, go1.27-1a2b3c.
func isVersion(s string) bool {
	digits, ok := strings.CutPrefix(s, "go")
	return ok && len(s) < 128 && len(digits) > 0 && digits[0] >= '1' && digits[0] <= '9'
}

// parseDetail reads a line below a program: its kind, and what follows.
func parseDetail(line string) (kind, rest string, ok bool) {
	line, tab := strings.CutPrefix(line, "\t")
	kind, rest, ok = strings.Cut(line, "\t")
	switch kind {
	case "path", "mod", "dep", "=>", "build":
		return kind, rest, ok && tab
	}
	return "", "", false
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(l)
		return l.Number%1024 != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, format.ErrCut) {
		b.Warnf(0, "%v", err)
		b.Cut()
	} else if err != nil {
		return err
	}
	if p.programs == 0 {
		return errors.New("go version -m: names no program built with Go")
	}
	if len(p.rows) > 0 {
		b.Table(evidence.Table{Title: "modules", Columns: []string{"module", "version", "of"}, Rows: p.rows})
	}
	if p.damaged > 0 {
		b.Warnf(p.firstBad, "lines of go version -m not understood: %d", p.damaged)
	}
	if p.dropped > 0 {
		b.Warnf(0, "too many lines of go version -m: %d left out", p.dropped)
	}
	return nil
}

type parser struct {
	b        *evidence.Builder
	subject  evidence.SubjectID
	name     string
	programs int
	settings int // of the program
	inside   bool
	rows     [][]string
	damaged  int
	firstBad int64
	dropped  int
}

func (p *parser) parseLine(l format.Line) {
	text := strings.ToValidUTF8(string(l.Text), "\uFFFD")
	if text == "" {
		return
	}
	if x, ok := parseProgram(text); ok {
		p.beginProgram(x, l.Number)
		return
	}
	kind, rest, ok := parseDetail(text)
	if !ok || p.programs == 0 {
		p.damaged++
		if p.firstBad == 0 {
			p.firstBad = l.Number
		}
		return
	}
	if !p.inside {
		p.dropped++
		return
	}
	switch kind {
	case "mod", "dep", "=>":
		p.addModule(kind, rest, l.Number)
	case "build":
		p.addSetting(rest, l.Number)
	}
}

func (p *parser) beginProgram(x built, line int64) {
	p.inside = p.programs < maxPrograms
	if p.programs++; !p.inside {
		p.dropped++
		return
	}
	p.settings = 0
	p.name = clipText(path.Base(strings.ReplaceAll(x.file, `\`, "/")), 64)
	p.subject = p.b.Subject(evidence.Subject{Name: p.name, Runtime: "go", Version: x.version})
	if x.experiments != "" {
		p.addFact(FactExperiment, x.experiments, line)
	}
}

// addModule reads a line of a module: its path, version and hash. The version may be missing or
// (devel).
func (p *parser) addModule(kind, rest string, line int64) {
	f := strings.SplitN(rest, "\t", 3)
	version := ""
	if len(f) > 1 {
		version = f[1]
	}
	if kind == "mod" {
		p.addFact(evidence.FactGoModule, strings.TrimSpace(f[0]+" "+version), line)
	}
	if len(p.rows) >= maxModules {
		p.dropped++
		return
	}
	name := f[0]
	if kind == "=>" {
		name = "=> " + name
	}
	p.rows = append(p.rows, []string{clipText(name, 256), clipText(version, 128), p.name})
}

// addSetting reads KEY=VALUE; either may be quoted as by strconv.Quote.
func (p *parser) addSetting(rest string, line int64) {
	key, value := cutWord(rest, "=")
	value, ok := strings.CutPrefix(value, "=")
	if ok {
		if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "`") {
			if s, err := strconv.Unquote(value); err == nil {
				value = s
			}
		}
	}
	switch {
	case !ok || key == "":
		p.damaged++
		if p.firstBad == 0 {
			p.firstBad = line
		}
	case p.settings >= maxSettings:
		p.dropped++
	default:
		p.settings++
		p.addFact(key, value, line)
	}
}

// cutWord cuts off the first word, which is quoted or ends at the separator.
func cutWord(s, separator string) (first, rest string) {
	if q, err := strconv.QuotedPrefix(s); err == nil {
		first, _ = strconv.Unquote(q)
		return first, s[len(q):]
	}
	i := max(0, strings.Index(s, separator))
	return s[:i], s[i:]
}

func (p *parser) addFact(key, value string, line int64) {
	f := evidence.Fact{Subject: p.subject, Key: clipText(key, 128), Value: clipText(value, maxValue), Number: math.NaN(), Origin: p.b.Origin(line)}
	switch value {
	case "true":
		f.Number = 1
	case "false":
		f.Number = 0
	default:
		if n, err := strconv.ParseUint(value, 10, 31); err == nil && key != "vcs.revision" {
			f.Number = float64(n)
		}
	}
	p.b.Fact(f)
}

func clipText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
