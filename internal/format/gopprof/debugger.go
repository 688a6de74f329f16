package gopprof

import (
	"bytes"
	"context"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Debugger reads goroutines as debuggers print them: GoLand, and other front ends of delve:
//
//	Goroutine 87
//	  runtime.gopark (/usr/local/go/src/runtime/proc.go:364)
//	  sync.runtime_SemacquireMutex (/usr/local/go/src/runtime/sema.go:77)
//	  sync.(*RWMutex).RLock (/usr/local/go/src/sync/rwmutex.go:71)
//	  main.(*pool).Do (/src/pool.go:440)
//	  created at: main.main (/src/main.go:12)
//
// and the list of delve, a row each, with the place that is the user's:
//
//   - Goroutine 57 - User: /usr/local/go/src/sync/rwmutex.go:103 sync.(*RWMutex).Lock (0x479a0e) [semacquire 41m2.1s]
//     Goroutine 58 - User: /usr/local/go/src/net/fd_windows.go:139 net.(*netFD).accept (0x7ff69202c9c5) (thread 17308)
//
// (https://github.com/go-delve/delve/blob/master/pkg/terminal/command.go, 1.0 to 1.25). How long a row says that it waits is the age of the machine, or nonsense, in
// most versions, and is not read. A front end's stack may follow a row.
//
// They become a goroutine dump. A front end does not print the state; the runtime function that parked the goroutine shows it.
var Debugger = format.Format{
	Name:  "go-debugger",
	About: "goroutines as delve, GoLand and other debuggers print them",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, []byte("Goroutine ")) {
			return format.No
		}
		inside := false
		for l := range bytes.Lines(head) {
			l = bytes.TrimSpace(l[:min(len(l), mostListed)])
			if _, ok := delveRow(l); ok {
				return format.Sure
			} else if _, ok := debuggedGoroutine(l); ok {
				inside = true
			} else if _, _, ok := debuggedFrame(l); ok && inside {
				return format.Sure
			} else {
				inside = inside && len(l) == 0
			}
		}
		return format.No
	},
	Parse: parseDebugger,
}

// debuggedGoroutine reads "Goroutine 87", and GoLand's text behind the number: "Goroutine 87 main.(*pool).Do".
func debuggedGoroutine(l []byte) (number string, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("Goroutine "))
	word, _, _ := bytes.Cut(rest, []byte(" "))
	if !ok || len(word) == 0 || len(word) > 12 {
		return "", false
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return string(word), true
}

// delved is a row of delve's list.
type delved struct{ number, function, position, state string }

// delveRow reads "Goroutine 57 - User: /usr/local/go/src/sync/rwmutex.go:103 sync.(*RWMutex).Lock (0x479a0e) [semacquire 41m2.1s]". A list by other places than the
// user's does not show where goroutines are.
func delveRow(l []byte) (d delved, ok bool) {
	head, rest, ok := bytes.Cut(bytes.TrimPrefix(l, []byte("* ")), []byte(" - User: "))
	if !ok {
		return d, false
	}
	d.number, ok = debuggedGoroutine(head)
	place, rest, ok2 := bytes.Cut(rest, []byte(" (0x"))
	at := bytes.LastIndexByte(place, ' ')
	if !ok || !ok2 || at <= 0 {
		return d, false
	}
	d.position, d.function = string(place[:at]), string(place[at+1:])
	colon := strings.LastIndexByte(d.position, ':')
	if colon < 0 || strings.IndexByte(d.function, '.') <= 0 {
		return d, false
	}
	d.state = "running"
	if open := bytes.IndexByte(rest, '['); open >= 0 {
		d.state = string(bytes.TrimSuffix(rest[open+1:], []byte("]")))
		if space := strings.LastIndexByte(d.state, ' '); space > 0 && d.state[space+1:] != "" && d.state[space+1] >= '0' && d.state[space+1] <= '9' {
			d.state = d.state[:space] // how long
		}
	}
	return d, true
}

// debuggedFrame reads "sync.(*RWMutex).RLock (/usr/local/go/src/sync/rwmutex.go:71)".
func debuggedFrame(l []byte) (function, position string, ok bool) {
	i := bytes.LastIndex(l, []byte(" ("))
	if i <= 0 || l[len(l)-1] != ')' || bytes.IndexByte(l[:i], ' ') >= 0 {
		return "", "", false
	}
	function, position = string(l[:i]), string(l[i+2:len(l)-1])
	slash := strings.LastIndexByte(function, '/')
	return function, position, strings.IndexByte(function[slash+1:], '.') > 0
}

// parkedBy maps the runtime function that a goroutine is in to what it waits for.
var parkedBy = []struct{ function, state string }{
	{"sync.runtime_Semacquire", "semacquire"}, {"internal/sync.runtime_Semacquire", "semacquire"}, {"sync.runtime_notifyListWait", "sync.Cond.Wait"},
	{"runtime.chanrecv", "chan receive"}, {"runtime.chansend", "chan send"}, {"runtime.selectgo", "select"}, {"runtime.selectnbrecv", "select"},
	{"internal/poll.runtime_pollWait", "IO wait"}, {"runtime.netpollblock", "IO wait"}, {"time.Sleep", "sleep"}, {"runtime.block", "select (no cases)"},
}

func parkedIn(function string) string {
	for _, x := range parkedBy {
		if strings.HasPrefix(function, x.function) {
			return x.state
		}
	}
	return ""
}

func parseDebugger(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var (
		lines   []format.Line
		head    = -1 // of the goroutine, in lines
		number  string
		settled bool // its state is known
	)
	put := func(l format.Line, text string) {
		if len(lines) < maxTextSamples {
			lines = append(lines, format.Line{Number: l.Number, Stamp: l.Stamp, Text: []byte(text)})
		}
	}
	state := func(is string) {
		if head >= 0 && head < len(lines) {
			lines[head].Text = []byte("goroutine " + number + " [" + is + "]:")
		}
		settled = true
	}
	err := a.Lines(func(l format.Line) bool {
		text := bytes.TrimSpace(l.Text[:min(len(l.Text), mostListed)])
		if d, ok := delveRow(text); ok {
			put(l, "")
			put(l, "goroutine "+d.number+" ["+d.state+"]:")
			put(l, d.function+"(...)")
			put(l, "\t"+d.position)
			head = -1
			return ctx.Err() == nil
		}
		if n, ok := debuggedGoroutine(text); ok {
			put(l, "")
			number, head, settled = n, len(lines), false
			put(l, "goroutine "+n+" [running]:")
			return ctx.Err() == nil
		}
		function, position, ok := debuggedFrame(text)
		if head < 0 || !ok {
			return ctx.Err() == nil
		}
		if is := parkedIn(function); is != "" && !settled {
			state(is)
		}
		if !strings.HasPrefix(function, "runtime.") {
			put(l, function+"(...)")
			if strings.IndexByte(position, ':') < 0 { // removed by a user
				position = "<unknown>:1"
			}
			put(l, "\t"+position)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(lines) > 0, "the text", "go-debugger: no goroutine with a stack in it"); err != nil {
		return err
	}
	return Format.Parse(ctx, format.Rewritten(a, lines), b)
}
