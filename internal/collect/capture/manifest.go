package capture

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/unstall/unstall/internal/base/evidence"
)

const schema = "unstall.capture/v1"

// Names of members other than chunks.
const (
	manifestName = "unstall.json"
	eventsName   = "events"
)

// Info describes a capture: its target and the tool that made it. Secrets in Target and Command are taken out when it is
// written.
type Info struct {
	Tool    string // version: "unstall 0.2.0"
	Host    string
	Target  string    // what the user typed
	Start   time.Time // start of the recording
	Command []string  // the whole command line

	ExpectedRate float64 // agreed requests/s, 0 unknown
}

// Lack is data that could not be recorded.
type Lack struct {
	What string `json:"what"`         // "environment", "disk waits"
	Why  string `json:"why"`          // "belongs to user app"
	Do   string `json:"do,omitempty"` // "sudo unstall 4711"
}

// manifest is the first member of the file.
type manifest struct {
	Schema  string    `json:"schema"`
	Tool    string    `json:"tool"`
	Host    string    `json:"host"`
	Target  string    `json:"target"`
	Start   time.Time `json:"start"`
	Command []string  `json:"command"`

	ExpectedRate float64 `json:"expected_rate,omitempty"`
}

// note is the comment of a chunk.
type note struct {
	CRC  string    `json:"crc32c"` // of the stored bytes, 8 hex digits
	Meta *metaNote `json:"meta,omitempty"`
}

// metaNote is the form of a [Meta] in the file.
type metaNote struct {
	Name   string       `json:"name"`
	Series string       `json:"series,omitempty"`
	Probe  string       `json:"probe,omitempty"`
	Origin string       `json:"origin,omitempty"`
	About  *subjectNote `json:"about,omitempty"`
	Lines  bool         `json:"lines,omitempty"`
	Found  bool         `json:"found,omitempty"`

	Continues bool `json:"continues,omitempty"`
}

// subjectNote is the form of an [evidence.Subject] in the file, where kinds have names.
type subjectNote struct {
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`
	PID       int    `json:"pid,omitempty"`
	StartTime int64  `json:"start_ns,omitempty"` // ns since the epoch
	Runtime   string `json:"runtime,omitempty"`
	Version   string `json:"version,omitempty"`
	CPUs      int    `json:"cpus,omitempty"`
	Container string `json:"container,omitempty"`
}

func (m Meta) toNote() *metaNote {
	n := &metaNote{Name: m.Name, Series: m.Series, Probe: m.Probe, Origin: m.Origin, Lines: m.Lines, Found: m.Found, Continues: m.Continues}
	if a := m.About; a != (evidence.Subject{}) {
		n.About = &subjectNote{a.Kind.String(), a.Name, a.PID, a.StartTime, a.Runtime, a.Version, a.CPUs, a.Container}
	}
	return n
}

func (n *metaNote) toMeta() Meta {
	m := Meta{Name: n.Name, Series: n.Series, Probe: n.Probe, Origin: n.Origin, Lines: n.Lines, Found: n.Found, Continues: n.Continues}
	if a := n.About; a != nil {
		m.About = evidence.Subject{Name: a.Name, PID: a.PID, StartTime: a.StartTime, Runtime: a.Runtime,
			Version: a.Version, CPUs: a.CPUs, Container: a.Container}
		for _, k := range []evidence.SubjectKind{evidence.Process, evidence.Host, evidence.Dependency} {
			if a.Kind == k.String() {
				m.About.Kind = k
			}
		}
	}
	return m
}

// Kinds of events in a recording.
const (
	eventWarning  = "warning"
	eventLack     = "lack"
	eventArtifact = "artifact ended"
	eventEnd      = "end"
)

// event is a member below events/.
type event struct {
	Event    string    `json:"event"`
	Time     time.Time `json:"time"`
	Text     string    `json:"text,omitempty"`     // text of a warning
	Artifact string    `json:"artifact,omitempty"` // name of the artifact that ended
	Lack     *Lack     `json:"lack,omitempty"`
}

// mustMarshal returns v as JSON. It panics on an error, which no value here causes.
func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("capture: %T: %v", v, err))
	}
	return b
}

// replaceControls replaces control characters by blanks, so that text from a file fits on one line of a terminal.
func replaceControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
