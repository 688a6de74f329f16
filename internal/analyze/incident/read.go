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

// NewBundle is a bundle to read artifacts into.
func NewBundle() *evidence.Bundle {
	b := evidence.NewBundle()
	b.Launchers = platform.Launchers()
	return b
}

// Read adds what an artifact holds to a bundle, of a capture everything in it.
func Read(ctx context.Context, a *format.Artifact, b *evidence.Bundle) error {
	if !isCapture(a) {
		return format.Read(ctx, all.Formats, a, b)
	}
	c, err := capture.Open(a.Name)
	if err != nil {
		return err
	}
	if len(c.Artifacts()) == 0 && !c.Ended {
		return fmt.Errorf("%s: was cut off before anything was recorded", a.Name)
	}
	ReadCapture(ctx, c, b)
	return nil
}

// Known says whether an artifact is one that Read makes something of.
func Known(a *format.Artifact) bool { return isCapture(a) || format.Claimed(all.Formats, a) }

// ReadCapture adds everything in a capture to a bundle. An artifact that cannot be read, as
// the one that was being written when target or tool ended, is a warning: the others were
// recorded at the same time. That what came of a log which was found is none of the known
// ones is nothing to warn of: nobody gave it.
func ReadCapture(ctx context.Context, c *capture.Capture, b *evidence.Bundle) {
	b.ExpectedRate = max(b.ExpectedRate, c.Info.ExpectedRate)
	for _, w := range c.Warnings {
		b.Warnf(0, "%s", w)
	}
	for _, l := range c.Lacks {
		b.Unseen = append(b.Unseen, evidence.Unseen(l))
	}
	for _, a := range inOrder(c.Artifacts()) {
		err := format.Read(ctx, all.Formats, a, b)
		if err != nil && !(errors.Is(err, format.ErrUnknown) && c.Found(a.Name)) {
			for line := range strings.Lines(err.Error()) {
				b.Warnf(0, "%s", strings.TrimSpace(line))
			}
		}
	}
}

// inOrder sorts what was recorded at the same time by name, so that two recordings list it alike: which
// of them wrote first is chance.
func inOrder(all []*format.Artifact) []*format.Artifact {
	slices.SortStableFunc(all, func(a, b *format.Artifact) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func isCapture(a *format.Artifact) bool {
	f, err := a.Open()
	if err != nil {
		return false // is said when it is read
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return capture.Is(head[:n]) || capture.Begins(head[:n])
}
