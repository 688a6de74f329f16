package evidence

import (
	"fmt"
	"strconv"
)

// ArtifactID indexes [Bundle.Artifacts].
type ArtifactID int32

// Artifact is a file, stream or answer from which evidence was read.
type Artifact struct {
	Name      string   // as the user or the probe named it
	Formats   []string // recognised formats; empty: none
	Envelopes []string // wrappers that were removed, outermost first: gzip, journald, cri, docker
	Bytes     int64    // size as stored, -1 unknown
	Modified  int64    // ns since the epoch, 0 unknown: anchors clocks that have no other
	Tail      bool     // the artifact ended in the middle of something

	About   Subject // the process it describes, if its recorder knows; zero: unknown
	Vantage Vantage // from where its requests were seen
	Series  string  // shared by the pieces of one recording; empty: a recording of its own
}

// Origin is where a row came from: an artifact and a position in it. The position is a line number in text, an event number in traces,
// a sample number in profiles. The zero Origin is unknown.
type Origin int64

const originBits = 40

// NewOrigin makes an origin; positions beyond 2^40 are clamped.
func NewOrigin(a ArtifactID, position int64) Origin {
	return Origin(int64(a+1)<<originBits | min(max(position, 0), 1<<originBits-1))
}

// Artifact returns the artifact, and false for the zero Origin.
func (o Origin) Artifact() (ArtifactID, bool) {
	a := ArtifactID(o>>originBits) - 1
	return a, a >= 0
}

// Position returns the line, event or sample number; 0 unknown.
func (o Origin) Position() int64 { return int64(o) & (1<<originBits - 1) }

// OriginText renders an origin as name:position, "" if unknown.
func (b *Bundle) OriginText(o Origin) string {
	a, ok := o.Artifact()
	if !ok || int(a) >= len(b.Artifacts) {
		return ""
	}
	if p := o.Position(); p > 0 {
		return b.Artifacts[a].Name + ":" + strconv.FormatInt(p, 10)
	}
	return b.Artifacts[a].Name
}

// Warning is something that a user should know beside the result: what was not understood, lost, contradictory or assumed.
type Warning struct {
	Text   string
	Count  int64
	Origin Origin // of the first occurrence
	Unless string // a kind of [Coverage]: the warning says nothing where another artifact has it; "" none
}

// Warnf adds a warning, or counts it if the same text was given before.
func (b *Bundle) Warnf(o Origin, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range b.Warnings {
		if b.Warnings[i].Text == text {
			b.Warnings[i].Count++
			return
		}
	}
	b.Warnings = append(b.Warnings, Warning{Text: text, Count: 1, Origin: o})
}

// Unseen is something that the recorder of the evidence could not see.
type Unseen struct {
	What string // "environment of gateway"
	Why  string // "belongs to user app"
	Do   string // a command that would make it visible, "" none
}

// Table is a table for `unstall inspect`. Cells are already formatted; the first column is aligned left, the others right.
type Table struct {
	Artifact ArtifactID
	Title    string
	Columns  []string
	Rows     [][]string
}
