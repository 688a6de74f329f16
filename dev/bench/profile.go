//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/unstall/unstall/dev/bench/inputs"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/accesslog"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/gotrace"
	"github.com/unstall/unstall/internal/format/hotspotgc"
	"github.com/unstall/unstall/internal/format/nettrace"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
	"github.com/unstall/unstall/internal/format/spans"
)

// profiledFor is how long each kind of file is read for unstall's build profile.
const profiledFor = 5 * time.Second

// profileReading writes a CPU profile of reading large files, for the compiler: no other part of unstall takes long.
func profileReading(dir, to string) error {
	type input struct {
		format format.Format
		data   []byte
	}
	all := []input{{gctrace.Format, gcLog()}, {accesslog.Format, accessText()}, {accesslog.Format, accessJSON()}, {spans.Format, inputMaker("spans, Jaeger JSON", 20)()}, {nettrace.Format, eventpipetest.Recording(16 << 20)}}
	for _, s := range []service{{pieces: 0}, {pieces: 100}} {
		var trace bytes.Buffer
		if err := s.recordTrace(&trace, 6<<20); err != nil {
			return err
		}
		all = append(all, input{gotrace.Format, trace.Bytes()})
	}
	path := filepath.Join(dir, "gc.log")
	if _, err := writeGCLog(path, gcLogSize, inputs.G1Collection); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all = append(all, input{hotspotgc.Format, data})

	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, x := range all {
		a := newArtifact("profiled", x.data)
		for began := time.Now(); time.Since(began) < profiledFor; {
			if err := readArtifact(a, x.format); err != nil {
				return err
			}
		}
	}
	return nil
}
