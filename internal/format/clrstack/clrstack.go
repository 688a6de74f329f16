// Package clrstack reads the stacks that the debugger extension SOS prints of .NET threads, in WinDbg, LLDB and dotnet-dump analyze:
//
//	> clrstack -all                               or !clrstack of one thread, ~*e !clrstack
//	OS Thread Id: 0x1dc1d (17)
//	        Child SP               IP Call Site
//	00007F2AE37F8770 00007f305abc6360 [HelperMethodFrame_1OBJ: 00007f2ae37f8770] System.Threading.Monitor.ReliableEnter(System.Object, Boolean ByRef)
//	00007F2AE37F88D0 00007F2FE392B31D shop.Orders.Place() [/app/Orders.cs @ 58]
//
// and the tree of dotnet-dump's parallelstacks (parallel.go).
//
// https://learn.microsoft.com/dotnet/core/diagnostics/sos-debugging-extension, .NET Framework 4 to .NET 10. They become what dotnet-stack
// prints of the same threads, which package dotnetstack reads. Where a frame of the runtime stands innermost the thread is in native code: it
// waits, or called the system. SOS names no assembly: types of System and Microsoft are taken for the framework's, others for the program's.
//
// The package's opinion: the methods of a stack count; stack pointers, addresses and the runtime's own frames do not.
package clrstack

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/dotnetstack"
)

// Format reads the output of clrstack.
var Format = format.Format{
	Name:  "clrstack",
	About: "stacks of .NET threads that SOS prints: clrstack in WinDbg, LLDB and dotnet-dump, and its parallelstacks",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is read.
const (
	mostLine  = 2048
	mostLines = 4 << 20 // of frames and threads
)

// matchHead demands the line of a thread and a frame of it.
func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, leafMark) && isParallel(head) {
		return format.Sure
	}
	if !bytes.Contains(head, threadWords) {
		return format.No
	}
	inside := false
	for l := range bytes.Lines(head) {
		l = trimLine(l)
		if _, ok := threadLine(l); ok {
			inside = true
		} else if _, _, ok := frameLine(l); inside && ok {
			return format.Sure
		}
	}
	return format.No
}

var threadWords = []byte("OS Thread Id: 0x")

func trimLine(l []byte) []byte { return bytes.TrimSpace(l[:min(len(l), mostLine)]) }

// threadLine reads "OS Thread Id: 0x1dc1d (17)": the number is hexadecimal, and the debugger's number for the thread is ignored.
func threadLine(l []byte) (id string, ok bool) {
	at := bytes.Index(l, threadWords) // behind "0:017> " too
	if at < 0 || at > 16 {
		return "", false
	}
	word, _, _ := bytes.Cut(l[at+len(threadWords):], []byte(" "))
	return string(word), isHex(word, 1, 8)
}

// frameLine reads a frame: the method, "" for a frame of the runtime without one; runtime says that it is the runtime's.
func frameLine(l []byte) (method string, runtime, ok bool) {
	sp, rest, _ := bytes.Cut(l, []byte(" "))
	ip, rest, _ := bytes.Cut(rest, []byte(" "))
	if !isHex(sp, 8, 16) || len(ip) != len(sp) || !isHex(ip, 8, 16) {
		return "", false, false
	}
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 {
		return "", false, false
	}
	if rest[0] == '[' {
		kind, after, whole := bytes.Cut(rest, []byte("]"))
		if !whole || !bytes.Contains(kind, []byte(": ")) {
			return "", false, false
		}
		return cutSource(after), true, true
	}
	return cutSource(rest), false, true
}

// cutSource returns a method and its parameters without its source position.
func cutSource(s []byte) string {
	s = bytes.TrimSpace(s)
	if i := bytes.LastIndexByte(s, ')'); i >= 0 {
		if tail := s[i+1:]; len(tail) > 0 && (bytes.HasPrefix(tail, []byte(" [")) || bytes.HasPrefix(tail, []byte(" + ")) || tail[0] == '+') {
			s = s[:i+1]
		} else if j := bytes.Index(s, []byte(") [")); j >= 0 { // a path with parentheses
			s = s[:j+1]
		}
	}
	return string(s)
}

func isHex(b []byte, least, most int) bool {
	if len(b) < least || len(b) > most {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// qualifyMethod puts the assembly before a method, as dotnet-stack does.
func qualifyMethod(method string) string {
	if i := strings.IndexByte(method, '!'); i > 0 && !strings.ContainsAny(method[:i], "(<") { // .NET Framework's native images
		return strings.TrimSuffix(method[:i], ".ni") + method[i:]
	}
	first, _, _ := strings.Cut(method, ".")
	if i := strings.IndexAny(first, "(+<`["); i >= 0 {
		first = first[:i]
	}
	switch first {
	case "System", "Interop", "Microsoft", "":
		first = "System.Private.CoreLib"
	}
	return first + "!" + method
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var lines []format.Line
	putBytes := func(l format.Line, text []byte) {
		if len(lines) < mostLines {
			lines = append(lines, format.Line{Number: l.Number, Stamp: l.Stamp, Text: text})
		}
	}
	put := func(l format.Line, text string) { putBytes(l, []byte(text)) }
	inside, first := false, false
	var together tree
	err := a.Lines(func(l format.Line) bool {
		if !inside && together.readLine(l) {
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		together.emitThreads(putBytes)
		text := trimLine(l.Text)
		if id, ok := threadLine(text); ok {
			put(l, "")
			put(l, "Thread (0x"+strings.ToUpper(id)+"):")
			inside, first = true, true
			return ctx.Err() == nil
		}
		switch method, runtime, ok := frameLine(text); {
		case !inside:
		case bytes.HasPrefix(text, []byte("Unable to walk the managed stack")):
			put(l, "  [Native Frames]")
		case !ok:
			if len(text) == 0 {
				inside = false
			}
		default:
			if first && runtime {
				put(l, "  [Native Frames]")
			}
			if first = false; method != "" {
				put(l, "  "+qualifyMethod(method))
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if together.emitThreads(putBytes); together.more > 0 {
		b.Warnf(0, "more than %d threads: the rest was left out", mostThreads)
	}
	if err := format.EndReading(ctx, b, err, len(lines) > 0, "the text", "clrstack: no thread with a stack in it"); err != nil {
		return err
	}
	return dotnetstack.Format.Parse(ctx, format.Rewritten(a, lines), b)
}

// threadText is the line of a thread of which only its place among others is known.
func threadText(n int) []byte { return []byte("Thread (0x" + strconv.FormatInt(int64(n), 16) + "):") }
