package capture

import "github.com/unstall/unstall/internal/base/evidence"

// Meta describes one artifact of a capture.
type Meta struct {
	// Name is unique within the capture and says what it is, with the extension
	// people expect: "cpu-0001.pb.gz", "trace-0001.out", "procfs.txt",
	// "access.log". It has no directory.
	Name string `json:"name"`

	// Series is shared by artifacts that are pieces of one recording of one
	// process, such as execution traces of a second each; empty: on its own.
	Series string `json:"series,omitempty"`

	Probe  string           `json:"probe"`            // that recorded it
	Origin string           `json:"origin,omitempty"` // where it came from: a URL without secrets, a path
	About  evidence.Subject `json:"about"`            // the process it is of, as far as known; zero: unknown, or the host

	// Lines says that the artifact is text of people's programs (logs, command
	// lines): secrets are taken out of each line before it is stored.
	Lines bool `json:"lines,omitempty"`

	// Found says that it is a log the program writes anyway, followed because it
	// looked like one that is read: what came may be something else.
	Found bool `json:"found,omitempty"`

	// Continues says that what another recording of the same process has under this name can follow
	// behind it and is read as one: it has no head, or one that may come again.
	Continues bool `json:"continues,omitempty"`
}
