// Package gopprof reads what Go's profilers write: CPU, heap, allocs,
// goroutine, goroutineleak (1.26), mutex, block, threadcreate and custom
// profiles as protobuf
// (https://github.com/google/pprof/blob/main/proto/profile.proto), the text of
// net/http/pprof?debug=1 (https://go.dev/src/runtime/pprof/pprof.go), and
// goroutine dumps: ?debug=2, SIGQUIT and panics, also in the middle of a log
// (https://go.dev/src/runtime/traceback.go). Go 1.5 to 1.27.
//
// Its rows. Samples: one row per sample and type with a value other than
// 0, without a time of their own; a CPU sample's Class says what the work was
// for ([goclass.Decision]); a dumped goroutine's Class is its state, its Lane
// its number, a second row of type "waiting" has how long it waits, and one of type "mutex" the
// address of the mutex that it waits for. Facts:
//
//	profile.kind                          cpu, heap, allocs, goroutine, goroutineleak, mutex, block, threadcreate, or a custom name
//	profile.cpuTotal  profile.duration    ns
//	profile.cores  profile.hz             processors used; samples per second of CPU time
//	profile.gc  profile.class.<class>     ns of CPU; the program's own is profile.class.own; a class not seen has no fact
//	profile.period                        heap: bytes per sample
//	profile.mutexFraction                 mutex text: 1 of so many contentions is sampled
//	goroutines  goroutines.leaked  threads.created
//	heap.inuse  heap.alloc                bytes, as sampled
//	HeapAlloc  NextGC  NumGC  …           from the runtime.MemStats behind a heap text, by their Go names
//	build.id
//
// Series, from runtime.MemStats: /gc/cycles/total:gc-cycles and gc.pauses (ns, by
// cycle) of the last 256 cycles at their own times; a text that was recorded
// live also has /gc/heap/allocs:bytes, /gc/heap/goal:bytes, memstats.HeapAlloc and
// others, one point at the time of the snapshot.
//
// The package's opinion: a profile has shares and no moments, so its samples get
// no invented times. A text has the times of its GC cycles; without them
// its clock stays unanchored, because a file's own date is when it was copied. A profile of another runtime is
// refused by name instead of being shown as Go without GC.
package gopprof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads Go profiles and goroutine dumps.
var Format = format.Format{
	Name:  "gopprof",
	About: "Go profiles (CPU, heap, goroutine, mutex, block …), as protobuf or text, and goroutine dumps; Go 1.5 to 1.27",
	Match: matchHead,
	Parse: parseArtifact,
}

// matchHead has no magic number to check: it walks the protobuf, or looks for the first lines
// of text profiles and dumps.
func matchHead(head []byte) format.Confidence {
	if c := matchProto(head); c != format.No {
		return c
	}
	if isLegacyCPU(head) {
		return format.Sure
	}
	if isSearched(head) {
		return format.Sure
	}
	rest := head
	for first := true; len(rest) > 0; first = false {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = stripQuoteMark(bytes.TrimSuffix(line, []byte("\r")))
		if _, ok := goroutineHeader(line); ok {
			return format.Sure
		}
		if h, ok := sectionHeader(line); ok && (first || h.kind != kindCustom) {
			return format.Sure
		}
		if beginsStack(line) && isFrame(stripQuoteMark(rest)) {
			return format.Sure
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	br := bufio.NewReaderSize(r, format.HeadSize)
	head, err := br.Peek(format.HeadSize)
	if len(head) == 0 && err != nil && err != io.EOF {
		return fmt.Errorf("go profile: its compression is damaged at the beginning: %w: record it again", err)
	}
	if matchProto(head) != format.No {
		return parseProto(ctx, br, b)
	}
	if isLegacyCPU(head) {
		return errors.New("CPU profile of addresses without function names, as gperftools and Go before 1.9 write it: name them with the program it is of: go tool pprof -proto PROGRAM FILE > cpu.pb.gz")
	}
	return parseText(ctx, a, b)
}
