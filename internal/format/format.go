// Package format is the frame around the parsers: it recognises artifacts by
// content, removes their wrapping, and hands them to every format
// that claims them. A format is a package below this one that exposes one
// [Format] value; internal/format/all lists them.
//
// The package's opinion: names and extensions prove nothing; one file may hold
// several formats (kubectl logs mixes gctrace with access lines); a parser never
// opens anything; and a cut artifact still gives everything before the cut.
package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
)

// Confidence is how sure a format is that an artifact is its own.
type Confidence int

// Confidences. All formats that are Sure read the artifact (one that is Whole
// alone); if none is, the first that says Maybe does.
const (
	No Confidence = iota
	Maybe
	Sure
)

// SureIf is Sure where something holds, else No.
func SureIf(holds bool) Confidence {
	if holds {
		return Sure
	}
	return No
}

// Format is a kind of artifact and its parser.
type Format struct {
	Name  string // as printed: "gctrace"
	About string // one line: what it is and which versions are read

	// Whole says that artifacts of this format hold nothing else: if it is Sure,
	// no other format reads them, whatever their lines look like.
	Whole bool

	// Joins says that such artifacts may be pieces of one session, though they are Whole: the pieces of a paste are read together.
	Joins bool

	// Moments says that such an artifact describes one moment: a process
	// may have many of them.
	Moments bool

	// Match judges the unwrapped beginning of an artifact, up to HeadSize bytes,
	// cut anywhere.
	Match func(head []byte) Confidence

	// Parse reads the whole artifact and writes its content. It returns an
	// error only if it read nothing useful; for an artifact that breaks off it writes
	// everything before the break, a warning and Builder.Cut.
	Parse func(ctx context.Context, a *Artifact, b *evidence.Builder) error
}

// HeadSize is how many bytes of an artifact Match gets.
const HeadSize = 256 << 10

// ErrUnknown is returned for an artifact no format claims.
var ErrUnknown = errors.New("not a format unstall reads")

// ErrEmpty is returned for an artifact without content.
var ErrEmpty = errors.New("is empty")

// Read recognises an artifact and parses it into the bundle with every format
// that claims it. The error says where, what and why in one line; the bundle
// keeps what was read before the error.
func Read(ctx context.Context, formats []Format, a *Artifact, bundle *evidence.Bundle) error {
	head, err := a.readHead()
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if len(head) == 0 {
		return fmt.Errorf("%s: %w: nothing was recorded into it", a.Name, ErrEmpty)
	}
	chosen := sameAsLast(formats, a, head, bundle)
	switch {
	case chosen != nil:
	case a.recognised:
		chosen = a.chosen
	default:
		chosen = chooseFormats(formats, head)
	}
	if p := asPaste(formats, a, head, chosen); p != nil {
		if err := p.readInto(ctx, a, bundle); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		return nil
	}
	if len(chosen) == 0 && len(bytes.TrimSpace(head)) == 0 && len(head) < HeadSize { // the answer of redis-cli to an empty list
		return fmt.Errorf("%s: %w: there are blank lines alone", a.Name, ErrEmpty)
	}
	if len(chosen) == 0 && isPacked(head) {
		if done, err := readPacked(ctx, formats, a, bundle); done && err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		} else if done {
			return nil
		}
	}
	if len(chosen) == 0 {
		what, named := looksLike(head)
		if !named {
			what += suggestCommand(head)
		}
		return fmt.Errorf("%s: %w: %s", a.Name, ErrUnknown, what)
	}
	id := bundle.AddArtifact(evidence.Artifact{Name: a.Name, Envelopes: a.Envelopes(), Bytes: a.Size, Modified: a.Modified,
		About: a.About, Series: a.Series})
	var errs []error
	for _, f := range chosen {
		bundle.Artifacts[id].Formats = append(bundle.Artifacts[id].Formats, f.Name)
		b := bundle.Builder(id, f.Name)
		b.Moments = f.Moments
		err := f.Parse(ctx, a, b)
		if a.unended && !f.Whole { // a document may end without a line end
			b.Cut()
		}
		b.Close()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Recognise reads the beginning of an artifact and asks formats whose it is, so that [Read] need not. It may run while other artifacts are read.
func Recognise(formats []Format, a *Artifact) {
	head, err := a.readHead()
	if err != nil || len(head) == 0 || a.Series != "" { // Read says what is wrong; those of a series are of the format of the one before
		return
	}
	a.chosen, a.recognised = chooseFormats(formats, head), true
}

// Claimed says whether a format claims an artifact. It is also true for one that cannot be opened, as
// that is no question of formats.
func Claimed(formats []Format, a *Artifact) bool {
	head, err := a.readHead()
	return err != nil || len(head) > 0 && (len(chooseFormats(formats, head)) > 0 || asPaste(formats, a, head, nil) != nil)
}

// Known says whether a format claims an artifact with this beginning.
func Known(formats []Format, head []byte) bool { return len(chooseFormats(formats, head)) > 0 }

// sameAsLast returns the formats of the last artifact of the same series if they are sure of this one, too; else nil. One source writes a
// series in one way. A recorder that looks a hundred times writes a hundred artifacts, and asking all formats of each takes longer than
// reading them.
func sameAsLast(formats []Format, a *Artifact, head []byte, bundle *evidence.Bundle) (same []Format) {
	if a.Series == "" {
		return nil
	}
	var names []string
	for i := len(bundle.Artifacts) - 1; i >= 0 && names == nil; i-- {
		if last := &bundle.Artifacts[i]; last.Series == a.Series && last.About == a.About {
			names = last.Formats
		}
	}
	for _, name := range names {
		k := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
		if k < 0 || formats[k].Match(head) != Sure {
			return nil
		}
		same = append(same, formats[k])
	}
	return same
}

// chooseFormats returns the formats that read an artifact. Those whose artifacts hold nothing else are asked first: most artifacts of a
// recording are theirs, and one that is sure leaves all others out.
func chooseFormats(formats []Format, head []byte) (chosen []Format) {
	maybe := len(formats)
	for i := range formats {
		if !formats[i].Whole {
			continue
		}
		switch formats[i].Match(head) {
		case Sure:
			return formats[i : i+1]
		case Maybe:
			maybe = min(maybe, i)
		}
	}
	for i := range formats {
		if formats[i].Whole {
			continue
		}
		switch formats[i].Match(head) {
		case Sure:
			chosen = append(chosen, formats[i])
		case Maybe:
			maybe = min(maybe, i)
		}
	}
	if len(chosen) == 0 && maybe < len(formats) {
		chosen = append(chosen, formats[maybe])
	}
	return chosen
}

// isETL recognises the first buffer of an event trace log: the header of a buffer, 72 bytes, whose
// first field is its size, followed by the header of the first event
// (https://learn.microsoft.com/windows/win32/api/evntrace/ns-evntrace-event_trace_header).
func isETL(head []byte) bool {
	if len(head) < 80 {
		return false
	}
	size := binary.LittleEndian.Uint32(head)
	return size >= 1<<10 && size <= 16<<20 && size%(1<<10) == 0 && (head[74] == 1 || head[74] == 2) && head[75] == 0xc0
}

// looksLike says what the file seems to be, for files that users often
// give by mistake; named says that it is of another JVM, which is named.
func looksLike(head []byte) (what string, named bool) {
	for _, k := range []struct{ magic, what string }{
		{"\x7fELF", "it is an ELF program"},
		{"PK\x03\x04", "it is a zip archive: unpack it first"},
		{"PERFILE2", "it is perf.data: what perf script prints of it is read"},
		{"\x96\xd5", "it is what sar keeps: what sar -A -f prints of it is read"}, // SA_MAGIC of sysstat's sa.h
		{"BZh", "it is bzip2: unpack it first"},
		{"\xfd7zXZ", "it is xz: unpack it first"},
		{"%PDF", "it is a PDF"},
	} {
		if strings.HasPrefix(string(head), k.magic) {
			return k.what, false
		}
	}
	if isETL(head) {
		return "it is an ETW trace of Windows (.etl), as PerfView and wpr record them: unstall cannot read these. Readable of .NET: a .nettrace (dotnet-trace collect --profile gc-verbose -p PID; .NET Core 3.0 on), and of .NET Framework its counters (dotnet-counters, or perfmon's CSV)", true
	}
	if what := otherJVM(head); what != "" {
		return what, true
	}
	if head[0] == '<' {
		return "it looks like HTML or XML", false
	}
	begin, _, _ := bytes.Cut(head[:min(len(head), 400)], []byte("\n"))
	line := string(redact.Line(begin))
	shown := []rune(line)
	if len(shown) > 60 { // a rune that is cut at the end is ignored
		shown = append(shown[:60], '…')
	}
	for _, r := range shown {
		if r < ' ' && r != '\t' && r != '\r' || r == '\uFFFD' {
			return "it is binary data of an unknown kind", false
		}
	}
	return fmt.Sprintf("no supported format has lines like %q", strings.TrimSpace(string(shown))), false
}

// otherJVM names the JVM other than HotSpot that wrote a log or dump, "" if none did.
func otherJVM(head []byte) string {
	if bytes.HasPrefix(head, []byte("0SECTION")) {
		return "it is a javacore of an IBM or OpenJ9 JVM without threads and GC history, which are what is read of one"
	}
	for _, k := range []struct{ words, what string }{
		{"[memory ][", "it is a GC log of JRockit; of JVMs HotSpot is supported, and the verbose GC logs of OpenJ9"},
		{"[INFO ][memory ]", "it is a GC log of JRockit; of JVMs HotSpot is supported, and the verbose GC logs of OpenJ9"},
		{"[memory ] ", "it is a GC log of JRockit; of JVMs HotSpot is supported, and the verbose GC logs of OpenJ9"},
	} {
		if bytes.Contains(head, []byte(k.words)) {
			return k.what
		}
	}
	return ""
}
