package procfs

import (
	"bytes"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// maxFacts bounds what is kept of an environment and of a command line.
const maxFacts = 256

// settings are the variables with a known default, and the
// default: "" if the runtime computes it.
var settings = []struct {
	name      string
	otherwise string
	number    func(string) (float64, bool)
}{
	{evidence.FactGOGC, "100", parseGOGC},
	{evidence.FactGOMEMLIMIT, "off", memoryLimit},
	{evidence.FactGOMAXPROCS, "", parseProcessors},
}

// processEnviron reads NAME=value.
func (p *parser) processEnviron(line []byte) bool {
	for v := range bytes.SplitSeq(line, []byte{0}) {
		name, value, ok := bytes.Cut(v, []byte("="))
		if len(v) == 0 {
			continue
		}
		if !ok || len(name) == 0 {
			return false
		}
		if q := p.subject; string(name) == "OTEL_SERVICE_NAME" && len(value) > 0 {
			q.service = cleanText(value, 128)
		} else if string(name) == "OTEL_RESOURCE_ATTRIBUTES" && q.service == "" {
			q.service = serviceName(string(value))
		} else if !ofRuntimes(string(name)) {
			p.ignored++
		} else if len(q.facts) < maxFacts {
			q.facts = append(q.facts, p.newSetting(cleanText(name, 128), cleanText(value, 1024)))
		}
	}
	return true
}

// serviceName returns the service.name of OTEL_RESOURCE_ATTRIBUTES, "" none: keys and
// percent-encoded values. https://opentelemetry.io/docs/specs/otel/resource/sdk/
func serviceName(attributes string) string {
	for attribute := range strings.SplitSeq(attributes, ",") {
		key, value, _ := strings.Cut(attribute, "=")
		if strings.TrimSpace(key) == "service.name" {
			if name, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				return cleanText([]byte(name), 128)
			}
		}
	}
	return ""
}

// ofRuntimes says whether a variable is one that a runtime or the C library
// reads. Other variables may be private and are left out.
func ofRuntimes(name string) bool {
	switch name {
	case evidence.FactGOGC, evidence.FactGOMEMLIMIT, evidence.FactGODEBUG, evidence.FactGOMAXPROCS, "GOTRACEBACK",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "GLIBC_TUNABLES":
		return true
	}
	for _, prefix := range []string{"DOTNET_", "COMPlus_", "MALLOC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (p *parser) newSetting(name, value string) evidence.Fact {
	f := evidence.Fact{Key: name, Value: value, Number: math.NaN(), Origin: p.b.Origin(p.number)}
	for _, s := range settings {
		if s.name == name {
			if n, ok := s.number(value); ok {
				f.Number = n
			} else if value == "" && s.otherwise != "" {
				f.Value = s.otherwise
				f.Number, _ = s.number(s.otherwise)
			}
		}
	}
	return f
}

// addDefaults adds a runtime's defaults for unset variables, if the environment was read.
func (p *parser) addDefaults(q *process) {
	if q.environ == 0 {
		return
	}
	for _, s := range settings {
		if s.otherwise == "" {
			continue
		}
		known := false
		for _, f := range q.facts {
			known = known || f.Key == s.name
		}
		if !known {
			f := p.newSetting(s.name, s.otherwise)
			f.Origin = p.b.Origin(q.environ)
			q.facts = append(q.facts, f)
		}
	}
}

// parseGOGC reads GOGC as readGOGC of runtime/mgcpacer.go does: "off" is -1, and what is no number
// counts as 100.
func parseGOGC(s string) (float64, bool) {
	if s == "off" {
		return -1, true
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 100, s != ""
	}
	return float64(n), true
}

// memoryLimit reads GOMEMLIMIT as parseByteCount of runtime/string.go does: bytes with an
// optional unit; "off" is -1.
func memoryLimit(s string) (float64, bool) {
	if s == "off" {
		return -1, true
	}
	unit := int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, 1<<(10*(i+1))
			break
		}
	}
	if unit == 1 {
		s = strings.TrimSuffix(s, "B")
	}
	n, ok := format.ParseDigits([]byte(s))
	if !ok || n > math.MaxInt64/unit {
		return 0, false
	}
	return float64(n * unit), true
}

func parseProcessors(s string) (float64, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return float64(n), err == nil && n > 0
}

// processCmdline reads arguments.
func (p *parser) processCmdline(line []byte) bool {
	for a := range bytes.SplitSeq(line, []byte{0}) {
		if q := p.subject; len(a) > 0 && len(q.args) < maxFacts {
			if len(q.args) == 0 {
				q.facts = append(q.facts, evidence.Fact{Key: evidence.FactCommand, Number: math.NaN(), Origin: p.b.Origin(p.number)})
			}
			q.args = append(q.args, cleanText(a, 1024))
		}
	}
	return true
}
