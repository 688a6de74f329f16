// Package threaddump reads stacks of a JVM's threads as HotSpot prints them: the
// answers of jstack and jcmd Thread.print, SIGQUIT's text in the program's own
// output, JDK 6 to 25, and the files of jcmd Thread.dump_to_file, text and JSON, JDK 21
// and later; the JSON answer of Spring Boot's actuator; the output of jstack -F, IntelliJ IDEA's export, Dumpling's
// report of a deadlock, the dumps of JRockit, and those of programs that print ThreadInfo themselves (Hadoop, Bukkit's servers). Any
// number of dumps may be in one file, with any text around them.
//
//	2026-11-21 13:40:43
//	Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):
//
//	"http-35" #59 daemon prio=5 os_prio=0 cpu=18.53ms elapsed=1.71s tid=0x00007f… nid=0x58d7 waiting for monitor entry  [0x00007f…]
//	   java.lang.Thread.State: BLOCKED (on object monitor)
//		at shop.Shop.price(Shop.java:26)
//		- waiting to lock <0x00000000fef00960> (a java.lang.Object)
//
// Sources: JavaThread::print_on, javaVFrame::print_lock_info_on and
// VM_PrintThreads of HotSpot
// (https://github.com/openjdk/jdk/tree/master/src/hotspot/share/runtime), and
// jdk.internal.vm.ThreadDumper.
//
// Each thread becomes a sample of type thread. Its stack ([evidence.ThreadInfo]) also has HotSpot's text about its lock, because a monitor
// that is entered leaves no frame of its own, and its name without the number, which is the
// name of its pool. A wait for a lock that another thread
// holds is an interval of no length: a dump is of one moment. Objects' addresses are not
// kept: a collection moves them.
//
// The time in a dump is that of the JVM's host, without a zone. Package threads interprets
// what threads do.
package threaddump

import (
	"bytes"
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads thread dumps of HotSpot.
var Format = format.Format{
	Name:    "threaddump",
	About:   "stacks of a JVM's threads: jstack, jcmd Thread.print, SIGQUIT (JDK 6 to 25), Thread.dump_to_file (21 and later), Spring Boot's actuator, JRockit, Hadoop's /stacks",
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

// Bounds of what is kept.
const (
	maxThreads = 100_000 // of a dump
	maxFrames  = 1024    // of a thread: HotSpot's own MaxJavaStackTraceDepth
	maxFrame   = 1024    // bytes of a frame's text
	maxName    = 120     // bytes of a thread's name
	maxHeld    = 64      // locks that a thread holds
)

var title = []byte("Full thread dump ")

// matchHead wants the title with a thread below it; or, where the title is missing, a thread with
// its state; or one of the files of dump_to_file.
func matchHead(head []byte) format.Confidence {
	if isJSON(head) || isActuator(head) || isToFile(head) || isHealth(head) {
		return format.Sure
	}
	var titled, inside, circle, stacks, listed, numbered, named, headless, cored bool
	for l := range bytes.Lines(head) {
		l = bytes.TrimRight(l, " \t\r\n")
		trimmed := bytes.TrimLeft(l, " \t")
		if headless && bytes.HasPrefix(trimmed, []byte("at ")) {
			if _, _, _, ok := readFrame(string(trimmed[3:])); ok {
				return format.Sure
			}
		}
		headless = isHeadless(trimmed)
		switch {
		case named && wordedState(bytes.TrimLeft(l, " \t")) != "":
			return format.Sure
		case isCore(trimmed):
			cored = true
		case cored && bytes.HasPrefix(trimmed, coreState):
			return format.Sure
		case isDeadlock(l):
			circle = true
		case circle && bytes.Contains(l, []byte("which is held by ")):
			return format.Sure
		case isListed(l):
			stacks = true
		case stacks && (bytes.Contains(l, []byte("- waiting to lock <")) || bytes.Contains(l, []byte("- parking to wait for "))):
			return format.Sure
		case bytes.Contains(l, title):
			titled = true
		case isVirtual(l):
			numbered = true
		case numbered && bytes.HasPrefix(bytes.TrimLeft(l, " \t"), []byte("java.base/java.lang.VirtualThread.")):
			return format.Sure
		case bytes.HasPrefix(bytes.TrimLeft(l, " \t"), []byte(debuggedMonitor)):
			listed = true
		case listed && bytes.HasPrefix(bytes.TrimLeft(l, " \t"), []byte("!j9vmthread ")):
			return format.Sure
		case bytes.Contains(l, []byte(isWaitingToLock)):
			if _, _, _, ok := parseSentence(bytes.TrimLeft(l, " \t")); ok {
				return format.Sure
			}
		case isHeader(l):
			_, inside = readHeader(l)
			if inside && (titled || isForced(l) || isInfo(l)) {
				return format.Sure
			}
		case inside && (bytes.HasPrefix(bytes.TrimLeft(l, " \t"), stateLine) || isSummarised(l)):
			return format.Sure
		}
		if _, _, named = wordedHead(bytes.TrimLeft(l, " \t")); named && headState(l) != "" {
			return format.Sure
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(b)
	json, err := p.readJSON(ctx, a)
	if !json {
		err = p.readText(ctx, a)
	}
	p.endDump()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.threads == 0 && p.deadlocks == 0 && err != nil:
		return err
	case p.threads == 0 && p.deadlocks == 0:
		return errors.New("thread dump: it holds no thread: take it again with jcmd PID Thread.print")
	case err != nil:
		b.Warnf(p.line, "the thread dump is incomplete: %v", err)
		b.Cut()
	}
	p.emitSummary()
	return nil
}

func (p *parser) readText(ctx context.Context, a *format.Artifact) error {
	var long bool
	err := a.Lines(func(l format.Line) bool {
		p.line, long = l.Number, l.Long
		p.parseLine(l)
		return l.Number%4096 != 0 || ctx.Err() == nil
	})
	if long {
		p.b.Cut()
	}
	return err
}

// isListed says whether a line begins the stacks of the threads of a deadlock, which stand below the JVM's report.
func isListed(l []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(l, " \t"), []byte("Java stack information for the threads listed above"))
}

// isDeadlock says whether a line begins the JVM's report about threads that wait for each other.
func isDeadlock(l []byte) bool {
	l = bytes.TrimLeft(l, " \t")
	return bytes.HasPrefix(l, []byte("Found ")) && bytes.Contains(l, []byte("Java-level deadlock")) && bytes.HasSuffix(bytes.TrimRight(l, " \t\r\n"), []byte(":"))
}
