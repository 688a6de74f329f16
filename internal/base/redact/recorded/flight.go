package recorded

import (
	"encoding/binary"

	"github.com/unstall/unstall/internal/base/redact"
)

// flight cleans a flight recording of a JVM. It is a sequence of chunks, each with a header of 68 bytes that gives its length and the place
// of its metadata, which describes its events.
// https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/recorder/repository/jfrChunkWriter.cpp
type flight struct {
	held []byte
	rest cleaner // for everything after the last chunk
	out  []byte
}

const (
	flightMagic  = "FLR\x00"
	flightHeader = 68
	mostChunk    = 256 << 20 // a JVM starts a new chunk at 12 MB by default
)

func (f *flight) cleanPiece(p []byte) []byte {
	if f.rest != nil {
		return f.rest.cleanPiece(p)
	}
	f.held = append(f.held, p...)
	f.out = f.out[:0]
	for len(f.held) >= flightHeader {
		size := binary.BigEndian.Uint64(f.held[8:])
		if string(f.held[:len(flightMagic)]) != flightMagic || size < flightHeader || size > mostChunk {
			f.rest = &data{values: true}
			f.out = append(f.out, f.rest.cleanPiece(f.held)...)
			f.held = nil
			break
		}
		if uint64(len(f.held)) < size {
			break
		}
		overwriteChunk(f.held[:size])
		f.out = append(f.out, f.held[:size]...)
		f.held = append(f.held[:0], f.held[size:]...)
	}
	return f.out
}

func (f *flight) cleanRest() []byte {
	f.out = f.out[:0]
	if f.rest == nil { // never finished
		f.rest = &data{values: true}
		f.out = append(f.out, f.rest.cleanPiece(f.held)...)
		f.held = nil
	}
	return append(f.out, f.rest.cleanRest()...)
}

// policy is the treatment of a text.
type policy uint8

const (
	asValue policy = iota
	asName         // of a class or method
	asCommand
	asSecret
)

// policies are the policies of fields, by event: those about how a process was started.
var policies = map[string]map[string]policy{
	"jdk.InitialEnvironmentVariable": {"value": asSecret},
	"jdk.InitialSystemProperty":      {"value": asSecret},
	"jdk.InitialSecurityProperty":    {"value": asSecret},
	"jdk.SystemProcess":              {"commandLine": asSecret},
	"jdk.ProcessStart":               {"command": asSecret},
	"jdk.JVMInformation":             {"jvmArguments": asCommand, "jvmFlags": asCommand, "javaArguments": asCommand},
	"jdk.types.Symbol":               {"string": asName},
}

// overwriteChunk overwrites the secrets in a chunk.
func overwriteChunk(b []byte) {
	at := binary.BigEndian.Uint64(b[24:])
	compressed := b[67]&1 != 0
	if !compressed || at < flightHeader || at >= uint64(len(b)) {
		(&data{values: true}).overwriteTexts(b[flightHeader:])
		return
	}
	m := metadataOf(b[at:])
	for rest := b[flightHeader:]; len(rest) > 0; {
		size, n := decodeVarint(rest)
		if n == 0 || size < uint64(n) || size > uint64(len(rest)) {
			(&data{values: true}).overwriteTexts(rest)
			return
		}
		m.overwriteEvent(rest[n:size])
		rest = rest[size:]
	}
}

// overwriteEvent overwrites the secrets in an event, given without its size.
func (m *metadata) overwriteEvent(b []byte) {
	id, n := decodeVarint(b)
	r := &reader{b: b, at: n}
	switch {
	case n == 0:
		return
	case id == 0: // metadata
		return
	case id == 1:
		m.scanPools(r)
	default:
		if c := m.classes[id]; c != nil {
			m.scanFields(r, c, 0)
		} else {
			r.bad = true
		}
	}
	if r.bad { // does not match its metadata: search for texts
		(&data{values: true}).overwriteTexts(b)
		eachString(b, func(s []byte) { redact.OverwriteValue(s) })
	}
}

// scanPools scans the constants.
func (m *metadata) scanPools(r *reader) {
	r.nextVarint() // start
	r.nextVarint() // duration
	r.nextVarint() // distance to the one before
	r.skip(1)      // its kind
	for range r.nextCount() {
		c := m.classes[r.nextVarint()]
		for range r.nextCount() {
			r.nextVarint() // its key
			if c == nil {
				r.bad = true
			}
			if r.bad {
				return
			}
			m.scanValue(r, c, asValue, 0)
		}
	}
}

// scanFields goes over the fields of a class.
func (m *metadata) scanFields(r *reader, c *class, depth int) {
	for _, f := range c.fields {
		if r.bad || depth > 8 {
			r.bad = true
			return
		}
		n := uint64(1)
		if f.array {
			n = r.nextCount()
		}
		for range n {
			if f.pooled {
				r.nextVarint()
			} else {
				m.scanValue(r, m.classes[f.class], policies[c.name][f.name], depth+1)
			}
			if r.bad {
				return
			}
		}
	}
}

// scanValue goes over a value of a class.
func (m *metadata) scanValue(r *reader, c *class, p policy, depth int) {
	if c == nil {
		r.bad = true
		return
	}
	switch c.name {
	case "java.lang.String":
		r.overwriteString(p)
	case "boolean", "byte":
		r.skip(1)
	case "float":
		r.skip(4)
	case "double":
		r.skip(8)
	case "short", "char", "int", "long":
		r.nextVarint()
	default:
		m.scanFields(r, c, depth)
	}
}
