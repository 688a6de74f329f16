package format

import (
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Rewritten is what one format made of an artifact for another to read: lines in that one's form, each with the number
// of the line that it was made of.
func Rewritten(a *Artifact, lines []Line) *Artifact {
	p := &paste{name: a.Name}
	if lines == nil {
		lines = []Line{}
	}
	return p.newPart(a, lines)
}

// EndReading answers for a format that has read all lines of an artifact, or as many as there were until err. It is the error that the format
// returns: that it was interrupted, or, without anything read, err or the text nothing. Else what there is is
// kept, and an err becomes a warning that the artifact, called what, is incomplete.
func EndReading(ctx context.Context, b *evidence.Builder, err error, read bool, what, nothing string) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !read && err != nil:
		return err
	case !read:
		return errors.New(nothing)
	case err != nil:
		b.Warnf(0, "%s is incomplete: %v", what, err)
		b.Cut()
	}
	return nil
}
