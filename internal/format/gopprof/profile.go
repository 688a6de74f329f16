package gopprof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Kinds of profile, as the fact profile.kind names them; a custom one has the
// name that its program gave it.
const (
	kindCPU           = "cpu"
	kindHeap          = "heap"
	kindAllocs        = "allocs"
	kindGoroutine     = "goroutine"
	kindGoroutineLeak = "goroutineleak"
	kindThreads       = "threadcreate"
	kindMutex         = "mutex"
	kindBlock         = "block"
	kindContention    = "contention" // mutex or block: without samples they look the same
	kindCustom        = "custom"
)

// recording is one profile, from protobuf or text.
type recording struct {
	*profile.Profile
	kind  string
	lines []int64 // of text: the line of each sample; nil: samples have numbers

	// Figures of a text beside the samples; 0 unknown.
	fraction int64
	announce int64 // goroutine profile: total N
	stats    []stat

	// Of runtime.MemStats; 0 unknown.
	statsLine int64

	longestPause int64 // ns, of the last 256, 0 unknown
	lastGC       int64 // ns since the epoch
	ring         ring
}

// stat is a line of the runtime.MemStats behind a heap text.
type stat struct {
	key, value string
	line       int64
}

func (r *recording) positionOf(sample int) int64 {
	if r.lines != nil {
		return r.lines[sample]
	}
	return int64(sample) + 1
}

func parseProto(ctx context.Context, in io.Reader, b *evidence.Builder) error {
	data, err := limits.readProfile(in)
	if err != nil {
		if errors.Is(err, format.ErrCut) {
			b.Cut()
		}
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := decodeProfile(data)
	if err != nil {
		return fmt.Errorf("go profile: %w: the file is damaged, cut, or several profiles in one: record it again", err)
	}
	doubt, err := checkIsGo(p)
	if err != nil {
		return err
	}
	if doubt {
		b.Warnf(0, "no function of the profile is clearly a Go function: it is read as a Go profile because of its value types")
	}
	r := &recording{Profile: p, kind: kindOf(p)}
	s := evidence.Subject{Runtime: "go"}
	if len(p.Mapping) > 0 {
		s.Name = programName(p.Mapping[0].File)
	}
	return emitRecording(ctx, r, b, b.Subject(s))
}

// decodeProfile decodes the protobuf. A panic of the library on hostile input becomes an error.
// The library would read text profiles too, but drops the function names in them.
func decodeProfile(data []byte) (p *profile.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("decoding it failed: %v", r)
		}
	}()
	if p, err = profile.ParseUncompressed(data); err == nil {
		err = p.CheckValid()
	}
	return p, err
}

// programName returns the name of the program of a mapping.
func programName(file string) string {
	file = strings.TrimSuffix(strings.ReplaceAll(file, `\`, "/"), " (deleted)")
	if file == "" || strings.HasPrefix(file, "[") || strings.HasPrefix(file, "//anon") {
		return ""
	}
	return clipText(path.Base(file))
}

const maxString = 1024

func clipText(s string) string {
	if len(s) > maxString {
		return s[:maxString]
	}
	return s
}

func kindOf(p *profile.Profile) string {
	period := ""
	if p.PeriodType != nil {
		period = p.PeriodType.Type
	}
	switch {
	case findColumn(p, "cpu") >= 0 || period == "cpu":
		return kindCPU
	case findColumn(p, "inuse_space") >= 0 || findColumn(p, "alloc_space") >= 0:
		if p.DefaultSampleType == "alloc_space" {
			return kindAllocs
		}
		return kindHeap
	case findColumn(p, "delay") >= 0:
		return lockKind(p)
	case len(p.SampleType) > 0:
		return clipText(p.SampleType[0].Type)
	}
	return kindCustom
}

// lockKind tells mutex and block profiles apart, which have the same types: a
// mutex profile charges the goroutine that unlocks, a block profile the one that waits.
func lockKind(p *profile.Profile) string {
	for i, s := range p.Sample {
		if i == 1000 {
			break
		}
		for _, l := range s.Location {
			for _, line := range l.Line {
				switch name := functionName(line); {
				case name == "runtime.unlock", name == "runtime._LostContendedRuntimeLock":
					return kindMutex
				case strings.HasPrefix(name, "runtime."), name == "":
				case strings.HasSuffix(name, "nlock"), strings.Contains(name, ").Unlock"), strings.Contains(name, ").RUnlock"),
					strings.HasSuffix(name, ").unlockSlow"), strings.HasSuffix(name, ").rUnlockSlow"):
					return kindMutex
				default:
					return kindBlock
				}
			}
		}
		if len(s.Location) > 0 {
			return kindBlock // all of runtime: channels, select
		}
	}
	return kindContention
}

// findColumn returns the index of a sample type, -1 if there is none.
func findColumn(p *profile.Profile, typ string) int {
	for i, t := range p.SampleType {
		if t.Type == typ {
			return i
		}
	}
	return -1
}

func functionName(l profile.Line) string {
	if l.Function == nil {
		return ""
	}
	return l.Function.Name
}

// libraryName returns the name shown for a location without functions: its library.
func libraryName(l *profile.Location) string {
	if l.Mapping != nil && l.Mapping.File != "" {
		return "[" + clipText(path.Base(l.Mapping.File)) + "]"
	}
	return "[unknown]"
}

// checkIsGo returns an error for a profile of another runtime. All profilers write the same
// protobuf; Go is recognised by its functions, else by its files, else by its sample types. doubt says
// that only the sample types decided.
func checkIsGo(p *profile.Profile) (doubt bool, err error) {
	other := ""
	for _, f := range p.Function {
		switch {
		case strings.HasPrefix(f.Name, "runtime.") && !strings.HasSuffix(f.Filename, ".py"),
			strings.HasSuffix(f.Filename, ".go"), f.Name == "main.main", strings.Contains(f.Name, ".(*"):
			return false, nil
		case other == "":
			other = languageOf(f)
		}
	}
	types := make([]string, 0, len(p.SampleType))
	for _, t := range p.SampleType {
		types = append(types, t.Type+"/"+t.Unit)
	}
	// A count of stacks, as pprof.NewProfile's; threads may have no stack at all.
	counts := len(types) == 1 && p.PeriodType != nil && types[0] == p.PeriodType.Type+"/count"
	switch {
	case other != "":
	case counts:
		return false, nil
	case !goTypes[strings.Join(types, " ")]:
		other = "its values are " + clipText(strings.Join(types, ", "))
	case len(p.Location) > fewPlaces:
		// Go writes the names of its functions into the profile. A few samples
		// may all have hit C code, as under the race detector.
		other = "none of its functions is named like Go's"
	default:
		return len(p.Location) > 0, nil
	}
	return false, fmt.Errorf("profile of another runtime (%s): unstall reads Go profiles", other)
}

// fewPlaces is how many locations a Go profile may have without a Go function.
const fewPlaces = 20

// goTypes are the sample types of runtime/pprof.
var goTypes = map[string]bool{
	"samples/count cpu/nanoseconds": true,
	"cpu/nanoseconds":               true,
	"samples/count":                 true,
	"alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes": true,
	"inuse_objects/count inuse_space/bytes":                                       true,
	"contentions/count delay/nanoseconds":                                         true,
}

func languageOf(f *profile.Function) string {
	switch file := strings.TrimSuffix(path.Ext(f.Filename), "x"); file {
	case ".py":
		return "Python"
	case ".java", ".kt", ".scala":
		return "JVM"
	case ".cs", ".fs":
		return ".NET"
	case ".js", ".ts", ".mjs":
		return "JavaScript"
	case ".rb":
		return "Ruby"
	case ".php":
		return "PHP"
	case ".rs":
		return "Rust"
	case ".c", ".cc", ".cpp", ".h", ".hpp":
		return "C or C++"
	}
	for _, k := range []struct{ prefix, language string }{
		{"java.", "JVM"}, {"java/", "JVM"}, {"jdk.", "JVM"}, {"jdk/", "JVM"}, {"sun.", "JVM"}, {"scala.", "JVM"}, {"kotlin.", "JVM"},
		{"System.", ".NET"}, {"Microsoft.", ".NET"}, {"_PyEval", "Python"}, {"<module>", "Python"}, {"(anonymous", "JavaScript"}, {"node:", "JavaScript"},
	} {
		if strings.HasPrefix(f.Name, k.prefix) {
			return k.language
		}
	}
	if strings.Contains(f.Name, "::") {
		return "C++ or Rust"
	}
	return ""
}
