// Package place writes files for other programs to read: into a directory, or into a bucket of
// a store that speaks S3 (https://docs.aws.amazon.com/AmazonS3/latest/API). A file appears
// under its name once it is complete, and replaces a file of the same name.
package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Place is where files go.
type Place interface {
	// Check says whether files can be put there, as far as this is known without a write.
	Check(ctx context.Context) error
	// Stage opens a file for a part of a table. Readers do not see it yet.
	Stage(table string) (*os.File, error)
	// Put publishes a staged file under a name with slashes.
	Put(ctx context.Context, name string, staged *os.File) error
	// Drop removes a staged file that was not published.
	Drop(staged *os.File)
	// String is the place as users gave it.
	String() string
}

// Of returns the place of a directory's name or of s3://BUCKET/PREFIX.
func Of(name string) (Place, error) {
	scheme, rest, ok := strings.Cut(name, "://")
	switch {
	case !ok:
		return directory(name), nil
	case scheme == "s3":
		return newStore(name, rest, os.Getenv)
	}
	return nil, fmt.Errorf("%s: cannot write to %s://: give a directory, or s3://BUCKET/PREFIX", name, scheme)
}

// directory is a place in the file system, made by the first write. Only its owner can read it, as
// its files describe services, just as captures do.
type directory string

func (d directory) String() string { return string(d) }

func (d directory) Check(context.Context) error {
	if fi, err := os.Stat(string(d)); err == nil && !fi.IsDir() {
		return fmt.Errorf("%s: is a file: give a directory for the tables", d)
	}
	return nil
}

func (d directory) Stage(table string) (*os.File, error) {
	in := filepath.Join(string(d), table)
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, stripPath(err)
	}
	f, err := os.CreateTemp(in, ".part-*") // readers ignore such names, and the rename stays within the folder
	return f, stripPath(err)
}

func (d directory) Put(_ context.Context, name string, staged *os.File) error {
	if err := staged.Sync(); err != nil {
		return stripPath(err)
	}
	return stripPath(os.Rename(staged.Name(), filepath.Join(string(d), filepath.FromSlash(name))))
}

func (d directory) Drop(staged *os.File) {
	_ = staged.Close()
	_ = os.Remove(staged.Name())
}

// stripPath removes the path from an error: the place is named beside it.
func stripPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
