// Package inputs makes inputs of any size for benchmarks and for tests of how work and memory grow: written ones, whose time advances as
// in a real file, and recorded ones, which are the inputs of golden tests repeated.
//
// Its opinion: an input that grows in time and in distinct values shows more than a repeated one, so a format has a written input where
// files of it get large; repeated ones are for the others.
package inputs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// Input is a kind of file that can be made in any size.
type Input struct {
	Name   string // "access log, text"
	Format string // name of the format that reads it
	// Recorded says that it is an input of a golden test, repeated.
	Recorded bool

	Write func(w *bufio.Writer, size int64) error // at least size bytes, as a whole file
}

// WriteTo writes at least size bytes, as a whole file.
func (in *Input) WriteTo(w io.Writer, size int64) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if err := in.Write(b, size); err != nil {
		return err
	}
	return b.Flush()
}

// Bytes returns a file of at least size bytes.
func (in *Input) Bytes(size int) []byte {
	var w bytes.Buffer
	_ = in.WriteTo(&w, int64(size)) // a Buffer takes everything
	return w.Bytes()
}

// Open returns a file of at least size bytes that is written while it is read, and kept nowhere.
func (in *Input) Open(size int64) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(in.WriteTo(w, size)) }()
	return r
}

// ByName returns the written or recorded input of a name.
func ByName(root, name string) (*Input, error) {
	list, err := All(root)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("there is no input %q", name)
}

// All returns the written inputs, and a recorded one of each format without; root is the root of the module.
func All(root string) ([]Input, error) {
	list := Written()
	recorded, err := Recorded(root)
	for _, in := range recorded {
		if !slices.ContainsFunc(list, func(w Input) bool { return w.Format == in.Format }) {
			list = append(list, in)
		}
	}
	return list, err
}

// Written returns the inputs that this package writes.
func Written() []Input {
	list := []Input{{Name: ".NET event stream", Format: "nettrace", Write: func(w *bufio.Writer, size int64) error { return eventpipetest.WriteRecording(w, size) }}}
	for _, k := range kinds {
		list = append(list, Input{Name: k.name, Format: k.format, Write: k.write})
	}
	return list
}

// Recorded returns, for each format, the input of its golden tests from which most rows are read when it is repeated. A format whose
// files are one document, nothing of which is read a second time, has none.
func Recorded(root string) ([]Input, error) {
	best, most := make(map[string]Input), make(map[string]int)
	consider := func(name string, data []byte) {
		b := incident.NewBundle()
		if readInto(b, name, data) != nil || len(b.Artifacts) == 0 || len(b.Artifacts[0].Formats) == 0 {
			return // in a text notation, or damaged on purpose
		}
		form := b.Artifacts[0].Formats[0]
		once := countRows(b)
		b = incident.NewBundle()
		_ = readInto(b, name, bytes.Repeat(data, 3)) // only the count matters
		if rows := countRows(b); rows > once && rows > most[form] {
			most[form] = rows
			best[form] = Input{Name: form + ", recorded", Format: form, Recorded: true, Write: func(w *bufio.Writer, size int64) error { return RepeatData(w, data, size) }}
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "internal/format/*/testdata/*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s holds no testdata of formats: this is not the root of the module (%w)", root, err)
	}
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".txtar":
			archive, err := txtar.ParseFile(file)
			if err != nil {
				return nil, err
			}
			for _, f := range archive.Files {
				if !strings.HasSuffix(f.Name, "want") && len(f.Data) > 0 {
					consider(f.Name, f.Data)
				}
			}
		case ".gz":
			data, err := unpackFile(file)
			if err != nil {
				return nil, err
			}
			consider(filepath.Base(file), data)
		}
	}
	list := make([]Input, 0, len(best))
	for _, in := range best {
		list = append(list, in)
	}
	slices.SortFunc(list, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func readInto(b *evidence.Bundle, name string, data []byte) error {
	a := &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
	return format.Read(context.Background(), all.Formats, a, b)
}

func unpackFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return io.ReadAll(z)
}

// RepeatData writes data again and again, until there are size bytes.
func RepeatData(w *bufio.Writer, data []byte, size int64) error {
	for n := int64(0); n < size; n += int64(len(data)) {
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// countRows counts what was read of an input.
func countRows(b *evidence.Bundle) int {
	n := b.Requests.Len() + b.Intervals.Len() + b.Samples.Len() + len(b.Facts)
	for _, s := range b.Series {
		n += len(s.T)
	}
	for _, t := range b.Tables {
		n += len(t.Rows)
	}
	return n
}
