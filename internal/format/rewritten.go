package format

import (
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Rewritten returns one format's conversion of an artifact for another format: lines in that format's form, each with the number
// of its source line.
func Rewritten(a *Artifact, lines []Line) *Artifact {
	p := &paste{name: a.Name}
	if lines == nil {
		lines = []Line{}
	}
	return p.newPart(a, lines)
}

// EndReading returns the error of a format that has read the lines of an artifact up to the error err. It is ctx's error if it was interrupted;
// without any content it is err, or one with the text nothing. Otherwise the content is
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
