package capture

import "github.com/unstall/unstall/internal/base/evidence"

// Meta describes one artifact of a capture.
type Meta struct {
	// Name is unique within the capture and says what the artifact is, with the usual extension: "cpu-0001.pb.gz",
	// "trace-0001.out", "procfs.txt", "access.log". It has no directory.
	Name string `json:"name"`

	// Series is shared by artifacts that are pieces of one recording of one process, such as execution traces of a second
	// each. Empty: the artifact is not a piece.
	Series string `json:"series,omitempty"`

	Probe  string           `json:"probe"`            // the probe that recorded it
	Origin string           `json:"origin,omitempty"` // source: a URL without secrets, a path
	About  evidence.Subject `json:"about"`            // the process it describes, as far as known; zero: unknown, or the host

	// Lines says that the artifact is text written by programs (logs, command lines). Secrets are taken out of each line
	// before it is stored.
	Lines bool `json:"lines,omitempty"`

	// Found says that the artifact is a log that the program writes anyway. It was followed because it looked like a known
	// format, but it may be something else.
	Found bool `json:"found,omitempty"`

	// Continues says that the artifact of this name in a later recording of the same process can be appended to this one
	// and read as one. It has no head, or one that may be repeated.
	Continues bool `json:"continues,omitempty"`
}
