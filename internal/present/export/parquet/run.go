package parquet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/export"
)

// Run is the diagnosis of one recording: a capture, a file, or several files of one incident.
type Run struct {
	ID      string   // digest of the bytes it was made of
	Files   []string // their names
	Skipped []string // names of files in a directory whose format is unknown
	Host    string   // where a capture was recorded, "" unknown
	Err     error    // what could not be read, or why there is no diagnosis: a line for each

	diagnosis *diagnose.Diagnosis
	source    *export.Source
}

// idBytes is how many bytes of a SHA-256 name a run: no two of a billion runs share them.
const idBytes = 16

// Ask returns the options of a diagnosis, chosen by the evidence that was read.
type Ask func(*evidence.Bundle) (diagnose.Options, error)

// Diagnose reads artifacts as one incident and says what slowed it down.
func Diagnose(ctx context.Context, artifacts []*format.Artifact, ask Ask) *Run {
	r := &Run{}
	sum := sha256.New()
	b := incident.NewBundle()
	for _, a := range artifacts {
		err := incident.Read(ctx, a, b)
		if a.Walked && errors.Is(err, format.ErrUnknown) {
			r.Skipped = append(r.Skipped, a.Name)
			continue
		}
		r.Files = append(r.Files, a.Name)
		addDigest(sum, a)
		if err != nil {
			r.Err = errors.Join(r.Err, discover.Explain(err))
		}
		if c, err := capture.Open(a.Name); err == nil && r.Host == "" {
			r.Host = c.Info.Host
		}
	}
	r.ID = hex.EncodeToString(sum.Sum(nil)[:idBytes])
	if len(b.Artifacts) == 0 {
		return r
	}
	opt, err := ask(b)
	if err == nil {
		r.diagnosis, err = diagnose.Run(ctx, b, opt)
	}
	if err != nil {
		r.Err = errors.Join(r.Err, fmt.Errorf("%s: %w", strings.Join(r.Files, ", "), err))
		return r
	}
	i := r.diagnosis.Incident()
	r.source = &export.Source{Bundle: i.Bundle, Ledgers: i.Ledgers()}
	return r
}

// addDigest hashes an artifact's bytes as they are stored, and their number, so that files of
// other lengths with the same bytes in sequence differ. An artifact that cannot be read is hashed
// by its name.
func addDigest(to io.Writer, a *format.Artifact) {
	f, err := a.Open()
	if err != nil {
		fmt.Fprintf(to, "%s\x00", a.Name)
		return
	}
	defer f.Close()
	n, _ := io.Copy(to, f)
	fmt.Fprintf(to, "\x00%d\x00", n)
}
