// Package jvmtext reads the settings of a JVM and its heap at one moment, as HotSpot and its tools
// print them, JDK 6 to 25:
//
//	jcmd VM.flags [-all]          -XX:MaxHeapSize=67108864 …; the table of all flags
//	java -XX:+PrintFlagsFinal     the same table
//	jcmd VM.command_line          jvm_args: -Xmx64m …
//	jcmd VM.version               OpenJDK 64-Bit Server VM version 17.0.15+6 …
//	jcmd GC.heap_info             PSYoungGen      total 38400K, used 30750K …
//	jinfo -flags                  VM Flags: …, Non-default VM flags: …
//	jmap -heap, jhsdb jmap --heap Heap Configuration: …
//
// Sources: JVMFlag::print_on (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/runtime/flags/jvmFlag.cpp),
// the print_on of each collector's heap, and sun.jvm.hotspot.tools.HeapSummary.
//
// A flag becomes a fact with its own name, in bytes if it is a size. Of the table of all flags,
// those are kept that a user or the JVM itself set, and those about memory and GC. The sizes of the
// heap's parts become the facts heap.eden.capacity, heap.eden.used and so on; if
// eden was not measured, it is derived from the flags, and the fact says how.
package jvmtext

import (
	"bytes"
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads texts about a JVM's settings.
var Format = format.Format{
	Name:    "jvmtext",
	About:   "settings and heap of a JVM: jcmd VM.flags, VM.command_line, VM.version, GC.heap_info; jinfo; jmap -heap; -XX:+PrintFlagsFinal",
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

// Bounds of what is kept.
const (
	maxFlags = 3000
	maxValue = 500 // bytes of a flag's value
)

// matchHead checks the first lines: further down, a GC log has some of these, too. The heading
// of jmap's configuration is unique and counts anywhere.
func matchHead(head []byte) format.Confidence {
	seen := 0
	for l := range bytes.Lines(head) {
		l = bytes.TrimSpace(l)
		switch {
		case len(l) == 0:
			continue
		case string(l) == "Heap Configuration:":
			return format.Sure
		case seen > 8:
		case beginsAnswer(l):
			return format.Sure
		}
		seen++
	}
	return format.No
}

// beginsAnswer says whether an answer of jcmd or jinfo may begin with the line.
func beginsAnswer(l []byte) bool {
	for _, s := range []string{"-XX:", "VM Flags:", "Non-default VM flags:", "jvm_args: ", "java_command: ", "[Global flags]"} {
		if bytes.HasPrefix(l, []byte(s)) {
			return true
		}
	}
	if _, ok := findGeneration(l); ok {
		return true
	}
	_, ok := tableRow(l)
	return ok || bytes.Contains(l, []byte(" VM version ")) && !bytes.HasPrefix(l, []byte("["))
}

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	line    int64
	about   evidence.Subject

	flags   map[string]setting
	order   []string
	space   string // the one that jmap's lines are about
	young   bool   // of the young generation
	heap    map[string]size
	parts   []string
	said    string // collector, as named in the text
	command string
	more    int64
}

type setting struct {
	value string
	line  int64
	set   bool // by a user, or by the JVM for this host
}

// size is the size of a part of the heap, in bytes.
type size struct {
	capacity, used float64 // -1 unknown
	line           int64
	how            string // how it was derived; "" measured
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, flags: make(map[string]setting), heap: make(map[string]size)}
	p.subject = b.Subject(evidence.Subject{Runtime: "jvm"})
	err := a.Lines(func(l format.Line) bool {
		p.line = l.Number
		p.parseLine(bytes.TrimSpace(l.Text))
		return l.Number%4096 != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.flags)+len(p.heap) == 0 && p.about.Version == "" && p.said == "" && p.command == "":
		if err != nil {
			return err
		}
		return errors.New("JVM settings: it holds no flag and no size: take it again with jcmd PID VM.flags -all")
	case err != nil:
		b.Warnf(p.line, "the text is incomplete: %v", err)
		b.Cut()
	}
	p.emitFacts()
	return nil
}

func (p *parser) parseLine(l []byte) {
	if len(l) == 0 {
		return
	}
	if name, f, ok := p.parseRow(l); ok {
		p.setFlag(name, f)
		return
	}
	switch text := string(l[:min(len(l), 1<<16)]); {
	case p.parseLabelled(text):
	case p.parseGeneration(text):
	default:
		p.parseUsage(text)
	}
}

// parseRow reads a line of the table of all flags.
func (p *parser) parseRow(l []byte) (name string, f setting, ok bool) {
	r, ok := tableRow(l)
	if !ok {
		return "", f, false
	}
	return r.name, setting{value: r.value, line: p.line, set: r.set}, true
}

func (p *parser) setFlag(name string, f setting) {
	if _, known := p.flags[name]; !known {
		if len(p.flags) == maxFlags {
			p.more++
			return
		}
		p.order = append(p.order, name)
	}
	p.flags[name] = f
}
