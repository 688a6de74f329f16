package record

import (
	"context"
	"strings"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
	"github.com/unstall/unstall/format/all"
)

// Evidence reads everything in a capture into a bundle. An artifact that cannot
// be read, as the one that was being written when target or tool ended, is a
// warning: the others were recorded at the same time.
func Evidence(ctx context.Context, c *capture.Capture, b *evidence.Bundle) {
	b.ExpectedRate = max(b.ExpectedRate, c.Info.ExpectedRate)
	for _, w := range c.Warnings {
		b.Warnf(0, "%s", w)
	}
	for _, l := range c.Lacks {
		b.Unseen = append(b.Unseen, evidence.Unseen(l))
	}
	for _, a := range c.Artifacts() {
		if err := format.Read(ctx, all.Formats, a, b); err != nil {
			for line := range strings.Lines(err.Error()) {
				b.Warnf(0, "%s", strings.TrimSpace(line))
			}
		}
	}
}
