// Package gdbthreads reads the threads of a native program at one moment as gdb prints them, and pstack:
//
//	  12   Thread 0x7f5300438700 (LWP 13921) "work_8" 0x00007f52ffa5754d in __lll_lock_wait () from /lib64/libpthread.so.0     info threads
//
//	Thread 3 (Thread 0x7fc513d65700 (LWP 32036)):                                                                            thread apply all bt
//	#0  0x00007fc51414254d in __lll_lock_wait () from /lib64/libpthread.so.0
//	#3  0x0000000000400927 in write_row (temp=0x0) at store.c:15
//
// https://sourceware.org/gdb/current/onlinedocs/gdb.html/Threads.html, gdb 6 to 16. What is told is how many threads wait for a mutex, and in which code: for a condition
// (pthread_cond_wait) idle threads wait, too.
package gdbthreads

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a listing.
var Format = format.Format{
	Name:  "gdb-threads",
	About: "threads of a native program as gdb and pstack print them (info threads, thread apply all bt)",
	Match: func(head []byte) format.Confidence {
		if bytes.Contains(head, []byte("Thread ")) {
			headed := false
			for l := range bytes.Lines(head) {
				text := strings.TrimSpace(string(l[:min(len(l), mostLine)]))
				if _, ok := rowOf(text); ok || headed && !strings.HasPrefix(text, "Traceback ") { // py-bt prints stacks of Python there
					return format.Sure
				}
				headed = isHeading(text)
			}
			if headed {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

const (
	mostLine   = 2048
	mostPlaces = 1000
	mostName   = 200
	// ofLock is how far from the innermost frame a function that locks a mutex may be.
	ofLock = 5
)

// rowOf reads a row of info threads: the function in which a thread is.
func rowOf(text string) (function string, ok bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "*"))
	n, rest, ok := strings.Cut(text, " ")
	if _, err := strconv.ParseUint(n, 10, 31); !ok || err != nil {
		return "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "Thread ")
	if !ok {
		return "", false
	}
	if _, after, found := strings.Cut(rest, "(LWP "); found {
		_, rest, ok = strings.Cut(after, ")")
	} else {
		_, rest, ok = strings.Cut(rest, " ")
	}
	if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, `"`) {
		_, rest, _ = strings.Cut(rest[1:], `"`)
	}
	return functionOf(rest), ok && functionOf(rest) != ""
}

// functionOf reads "0x00007f52 in __lll_lock_wait () from …" and "__lll_lock_wait () at …".
func functionOf(text string) string {
	text = strings.TrimSpace(text)
	if address, rest, ok := strings.Cut(text, " in "); ok && strings.HasPrefix(address, "0x") {
		text = rest
	}
	name, _, ok := strings.Cut(text, " (")
	if !ok || name == "" || strings.ContainsAny(name, "\"'=") || len(name) > mostName {
		return ""
	}
	return strings.ToValidUTF8(name, "?")
}

// isHeading says whether a line begins a stack: "Thread 3 (Thread 0x7fc513d65700 (LWP 32036)):".
func isHeading(text string) bool {
	rest, ok := strings.CutPrefix(text, "Thread ")
	n, rest, ok2 := strings.Cut(rest, " ")
	_, err := strconv.ParseUint(n, 10, 31)
	return ok && ok2 && err == nil && (strings.HasPrefix(rest, "(Thread 0x") || strings.HasPrefix(rest, "(LWP ")) && strings.HasSuffix(strings.TrimSpace(rest), ":")
}

// waitsForLock says whether a function waits for a mutex or a lock of readers and writers.
func waitsForLock(function string) bool {
	return strings.Contains(function, "lll_lock_wait") || strings.HasPrefix(function, "pthread_mutex_lock") || strings.HasPrefix(function, "___pthread_mutex_lock") ||
		strings.HasPrefix(function, "__GI___pthread_mutex_lock") || strings.HasPrefix(function, "__pthread_mutex_lock") || strings.HasPrefix(function, "pthread_rwlock_") && strings.HasSuffix(function, "lock") || strings.HasPrefix(function, "_L_lock_")
}

// isLibrary says whether a function is of the libraries between a program and its mutexes.
func isLibrary(function string) bool {
	return waitsForLock(function) || strings.HasPrefix(function, "_") || strings.HasPrefix(function, "std::") || strings.HasPrefix(function, "futex_") || strings.HasPrefix(function, "syscall") || strings.HasPrefix(function, "pthread_")
}

// listing is the threads of one form.
type listing struct {
	n, waiting int
	line       int64
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var rows, stacks listing // both may be in one text, of the same threads
	places := make(map[string]int)
	frame, waits, placed := 0, false, false
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		text := strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)]))
		if isHeading(text) {
			stacks.n++
			if frame, waits, placed = 0, false, false; stacks.line == 0 {
				stacks.line = l.Number
			}
			return true
		}
		if function, ok := rowOf(text); ok {
			if rows.n++; rows.line == 0 {
				rows.line = l.Number
			}
			if waitsForLock(function) {
				rows.waiting++
			}
			return true
		}
		number, rest, ok := strings.Cut(strings.TrimPrefix(text, "#"), " ")
		if _, err := strconv.ParseUint(number, 10, 31); !ok || err != nil || !strings.HasPrefix(text, "#") {
			return true
		}
		function := functionOf(rest)
		if number == "0" && stacks.n == 0 { // a stack without a heading
			frame, waits, placed = 0, false, false
		}
		if frame++; frame <= ofLock && !waits && waitsForLock(function) {
			if waits = true; stacks.n > 0 {
				stacks.waiting++
			}
		}
		if waits && !placed && function != "" && !isLibrary(function) {
			if placed = true; len(places) < mostPlaces || places[function] > 0 {
				places[function]++
			}
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, rows.n+stacks.n > 0, "the listing", "gdb-threads: no thread in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process})
	x := stacks
	if rows.n > x.n {
		x = rows
	}
	most := ""
	for name, n := range places {
		if n > places[most] || n == places[most] && name < most {
			most = name
		}
	}
	b.Table(evidence.Table{Title: "threads at one moment", Columns: []string{"", "threads", "in"}, Rows: [][]string{
		{"wait for a mutex", strconv.Itoa(x.waiting), most}, {"others", strconv.Itoa(x.n - x.waiting), ""}}})
	b.FactAt(subject, evidence.FactThreadsLocked, most, float64(x.waiting), x.line)
	b.FactAt(subject, evidence.FactThreadsSeen, "", float64(x.n), x.line)
	return nil
}
