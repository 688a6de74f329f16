package incident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// NewBundle returns a bundle to read artifacts into.
func NewBundle() *evidence.Bundle {
	b := evidence.NewBundle()
	b.Launchers = platform.Launchers()
	return b
}

// Read adds an artifact to a bundle; of a capture it adds every artifact in it.
func Read(ctx context.Context, a *format.Artifact, b *evidence.Bundle) error {
	if !isCapture(a) {
		err := format.Read(ctx, all.Formats, a, b)
		if errors.Is(err, format.ErrUnknown) && isPackedCapture(a) {
			return fmt.Errorf("%s: it is a capture that another program compressed: unpack it first", a.Name)
		}
		return err
	}
	c, err := capture.Open(a.Name)
	if err != nil {
		return err
	}
	if len(c.Artifacts()) == 0 && c.Damage != "" {
		return fmt.Errorf("%s: is damaged, and nothing in it can be read: %s", a.Name, c.Damage)
	}
	if len(c.Artifacts()) == 0 && !c.Ended {
		return fmt.Errorf("%s: was cut off before anything was recorded", a.Name)
	}
	ReadCapture(ctx, c, b)
	return nil
}

// Known reports whether Read knows the artifact's format.
func Known(a *format.Artifact) bool { return isCapture(a) || format.Claimed(all.Formats, a) }

// ReadCapture adds every artifact in a capture to a bundle. It warns of an artifact that it cannot read, such as one
// that was cut short when the target or the tool ended, and reads the others. It does not warn of a log of unknown
// format that the recorder found by itself, because the user did not ask for it.
func ReadCapture(ctx context.Context, c *capture.Capture, b *evidence.Bundle) {
	b.ExpectedRate = max(b.ExpectedRate, c.Info.ExpectedRate)
	for _, w := range c.Warnings {
		b.Warnf(0, "%s", w)
	}
	for _, l := range c.Lacks {
		b.Unseen = append(b.Unseen, evidence.Unseen(l))
	}
	for a := range recogniseAhead(inOrder(c.Artifacts())) {
		err := format.Read(ctx, all.Formats, a, b)
		if err != nil && !(errors.Is(err, format.ErrUnknown) && c.Found(a.Name)) {
			for line := range strings.Lines(err.Error()) {
				b.Warnf(0, "%s", strings.TrimSpace(line))
			}
		}
	}
}

// recogniseAhead yields artifacts. While one is read, it finds out which formats read the next one.
func recogniseAhead(artifacts []*format.Artifact) func(yield func(*format.Artifact) bool) {
	return func(yield func(*format.Artifact) bool) {
		next, ended := make(chan *format.Artifact), make(chan struct{})
		defer close(ended)
		go func() {
			defer close(next)
			for _, a := range artifacts {
				format.Recognise(all.Formats, a)
				select {
				case next <- a:
				case <-ended:
					return
				}
			}
		}()
		for a := range next {
			if !yield(a) {
				return
			}
		}
	}
}

// inOrder sorts artifacts of the same time by name, so that two recordings list them alike: which one is written first
// is chance.
func inOrder(all []*format.Artifact) []*format.Artifact {
	slices.SortStableFunc(all, func(a, b *format.Artifact) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func isCapture(a *format.Artifact) bool {
	f, err := a.Open()
	return err == nil && beginsCapture(f) // reading it reports the error
}

// isPackedCapture says whether an artifact is a capture within gzip or zstd. A capture is read at many places, so that it must be unpacked.
func isPackedCapture(a *format.Artifact) bool {
	f, err := a.Reader()
	return err == nil && beginsCapture(f)
}

func beginsCapture(f io.ReadCloser) bool {
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return capture.Is(head[:n]) || capture.Begins(head[:n])
}
