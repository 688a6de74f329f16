// Package pythonstacks reads stacks of a Python program's threads at one moment, as py-spy dump prints them, and faulthandler of Python:
//
//	Process 132: /usr/local/bin/python /usr/local/bin/airflow scheduler
//	Thread 132 (idle): "MainThread"                                               py-spy, innermost function first
//	    _send (multiprocessing/connection.py:368)
//	        Arguments::                                                           --locals, of which nothing is kept
//
//	Thread 0x00007f5e1bfff640 (most recent call first):                           faulthandler
//	  File "/usr/lib/python3.10/concurrent/futures/thread.py", line 81 in _worker
//
//	Thread 140211882126784 "waitress-3" hangs                                     programs that print sys._current_frames themselves,
//	  File "/srv/shop/views.py", line 118, in fetch                              by traceback.format_stack: outermost function first
//	    r = session.get(url)
//	# ThreadID: 140211882126784
//
// Sources: src/dump.rs of https://github.com/benfred/py-spy (0.1 to 0.4), Python/traceback.c of CPython (3.3 to 3.14).
//
// py-spy also names threads that run no Python code now, without any function below: an idle worker of uWSGI is one.
//
// A single dump shows where threads are, and not for how long. py-spy calls a thread idle that uses no CPU: it waits, or has
// nothing to do. Its innermost functions show what it waits for.
package pythonstacks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a dump.
var Format = format.Format{
	Name:  "python-stacks",
	About: "stacks of a Python program's threads: py-spy dump, faulthandler, py-bt of gdb",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine    = 4096
	mostThreads = 10_000
	mostFrames  = 500
	mostText    = 200
	mostShown   = 20
)

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte("hread ")) && !bytes.Contains(head, []byte("# ThreadID: ")) && !bytes.Contains(head, []byte(gdbHeading)) {
		return format.No
	}
	inside, spied := false, false
	for l := range bytes.Lines(head) {
		if len(l) > mostLine {
			continue
		}
		text := strings.TrimRight(string(l), "\r\n")
		if strings.HasPrefix(text, "Python v") {
			spied = true
		}
		if t, ok := headingOf(text); ok {
			if inside = true; spied && t.state != "" {
				return format.Sure // py-spy, even without a function
			}
			continue
		}
		if _, ok := frameOf(text); ok && inside {
			return format.Sure
		}
	}
	return format.No
}

// thread is a thread with its stack, innermost first.
type thread struct {
	name, state string
	frames      []frame
	line        int64
	printed     bool // by the program itself, not by a tool
	outermost   bool // comes first in the text
}

// frame is a function and where it is.
type frame struct{ function, file string }

// headingOf reads the line of a thread.
func headingOf(text string) (t thread, ok bool) {
	text = strings.TrimSpace(text)
	if text == gdbHeading {
		return t, true
	}
	if id, found := strings.CutPrefix(text, "# ThreadID: "); found {
		t.printed = true
		return t, isID(id)
	}
	rest, current := strings.CutPrefix(text, "Current thread ")
	if !current {
		if rest, ok = strings.CutPrefix(text, "Thread "); !ok {
			return t, false
		}
	}
	id, rest, ok := strings.Cut(rest, " ")
	if !ok || !isID(id) {
		return t, false
	}
	if rest = strings.TrimSpace(rest); strings.HasSuffix(rest, "(most recent call first):") {
		if name := strings.Trim(strings.TrimSpace(strings.TrimSuffix(rest, "(most recent call first):")), "[]"); name != "" {
			t.name = clipText(name)
		}
		return t, true
	}
	if name, found := strings.CutPrefix(rest, `"`); found { // a program's own words follow
		name, words, closed := strings.Cut(name, `"`)
		t.name, t.printed = clipText(name), true
		return t, closed && name != "" && len(words) <= mostWords
	}
	state, name, ok := strings.Cut(rest, ")")
	state, opens := strings.CutPrefix(state, "(")
	if !ok || !opens {
		return t, false
	}
	for _, s := range strings.Split(state, "+") { // "active+gil"
		if s != "idle" && s != "active" && s != "gil" {
			return t, false
		}
	}
	t.state = state
	t.name = clipText(strings.Trim(strings.TrimPrefix(strings.TrimSpace(name), ":"), ` "`))
	return t, true
}

// mostWords is how long words behind the name of a thread may be.
const mostWords = 40

// gdbHeading is the line that gdb's py-bt prints above a stack, below its own line of the thread.
const gdbHeading = "Traceback (most recent call first):"

func isID(s string) bool {
	s = strings.TrimSuffix(s, ",")
	if digits, hex := strings.CutPrefix(s, "0x"); hex {
		_, err := strconv.ParseUint(digits, 16, 64)
		return err == nil
	}
	if digits, hex := strings.CutPrefix(s, "0X"); hex {
		_, err := strconv.ParseUint(digits, 16, 64)
		return err == nil
	}
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// frameOf reads a function: "wait (threading.py:295)", and `File "/usr/lib/x.py", line 81 in _worker`.
func frameOf(text string) (f frame, ok bool) {
	text = strings.TrimSpace(text)
	if rest, found := strings.CutPrefix(text, "<built-in method "); found { // of gdb's py-bt: "<built-in method acquire of _thread.RLock object at remote 0x7f9aeed3ed00>"
		name, of, ok := strings.Cut(rest, " of ")
		return frame{clipText(name), "<built-in>"}, ok && name != "" && strings.HasSuffix(of, ">")
	}
	if rest, found := strings.CutPrefix(strings.Replace(text, `File: "`, `File "`, 1), `File "`); found {
		file, rest, ok := strings.Cut(rest, `", line `)
		_, name, ok2 := strings.Cut(rest, " in ")
		return frame{clipText(name), clipText(file)}, ok && ok2 && name != ""
	}
	name, rest, found := strings.Cut(text, " (")
	file, line, found2 := strings.Cut(strings.TrimSuffix(rest, ")"), ":")
	if !found || !found2 || !strings.HasSuffix(rest, ")") || strings.ContainsAny(name, " =") {
		return f, false
	}
	for strings.Contains(line, ":") { // C:\…
		var more string
		more, line, _ = strings.Cut(line, ":")
		file += ":" + more
	}
	_, err := strconv.ParseUint(line, 10, 31)
	return frame{clipText(name), clipText(file)}, err == nil && name != ""
}

func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostText)], "?") }

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []thread
	dropped := int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		text := string(l.Text)
		if t, ok := headingOf(text); ok {
			if len(all) == mostThreads {
				dropped++
				return true
			}
			t.line = l.Number
			all = append(all, t)
			return true
		}
		if f, ok := frameOf(text); ok && len(all) > 0 && len(all[len(all)-1].frames) < mostFrames {
			t := &all[len(all)-1]
			t.frames = append(t.frames, f)
			t.outermost = t.outermost || t.printed && strings.Contains(text, ", in ")
		}
		return true
	})
	for i := range all {
		if all[i].outermost {
			slices.Reverse(all[i].frames)
		}
	}
	all = slices.DeleteFunc(all, func(t thread) bool { return len(t.frames) == 0 && t.state == "" })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(all) == 0 && err != nil:
		return err
	case len(all) == 0:
		return errors.New("pythonstacks: no thread with a stack in it")
	case err != nil:
		b.Warnf(0, "the stacks are incomplete: %v", err)
		b.Cut()
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "python"})
	addTable(b, all)
	emitFacts(b, subject, all)
	if dropped > 0 {
		b.Warnf(0, "threads beyond the first %d: %d", mostThreads, dropped)
	}
	return nil
}

// Kinds of places of threads, by their innermost functions.
const (
	atWork    = "run code"
	forWork   = "wait for work of a pool or queue"
	forLock   = "wait for a lock, an event or a result"
	forPeer   = "wait for an answer of the network"
	forEvents = "wait for events of their loop"
	asleep    = "sleep"
	outside   = "run no Python code"
)

// places maps functions, by name and by the end of their file, to what they wait for; the first match counts.
var places = []struct{ function, file, what string }{
	{"_worker", "concurrent/futures/thread.py", forWork},
	{"_worker", "thread.py", forWork},
	{"acquire", "", forLock},
	{"wait", "threading.py", forLock},
	{"_wait_for_tstate_lock", "threading.py", forLock},
	{"join", "threading.py", forLock},
	{"sleep", "", asleep},
	{"recv", "", forPeer}, {"recv_into", "", forPeer}, {"recvfrom", "", forPeer}, {"readinto", "socket.py", forPeer}, {"read", "ssl.py", forPeer},
	{"connect", "", forPeer}, {"create_connection", "socket.py", forPeer}, {"do_handshake", "ssl.py", forPeer},
	{"_send", "connection.py", forPeer}, {"_recv", "connection.py", forPeer}, {"wait_select", "", forPeer},
	{"select", "selectors.py", forEvents}, {"_run_once", "base_events.py", forEvents},
	{"get", "queue.py", forWork},
}

// placeOf returns what a thread does.
func placeOf(t *thread) string {
	if len(t.frames) == 0 {
		return outside
	}
	for _, f := range t.frames { // a worker waits for work in wait, get and _worker
		if f.function == "_worker" && strings.HasSuffix(f.file, "thread.py") && isQueue(t) {
			return forWork
		}
	}
	if len(t.frames) > 1 && t.frames[0].function == "wait" && t.frames[1].function == "get" && strings.HasSuffix(t.frames[1].file, "queue.py") {
		return forWork
	}
	for _, p := range places {
		if f := t.frames[0]; p.function == f.function && p.what != forWork && strings.HasSuffix(f.file, p.file) {
			return p.what
		}
	}
	return atWork
}

// isQueue says whether a worker of a pool is in its queue: no function of the program is above the pool.
func isQueue(t *thread) bool {
	for _, f := range t.frames {
		if f.function == "_worker" {
			return true
		}
		if !strings.HasSuffix(f.file, "threading.py") && !strings.HasSuffix(f.file, "queue.py") {
			return false
		}
	}
	return false
}

// packages are folders of Python's own library and of packages that wait
// or call for a program: their caller is the program's own place.
var packages = map[string]bool{
	"aiohttp": true, "aiomysql": true, "aioredis": true, "anyio": true, "asyncio": true, "asyncpg": true, "billiard": true, "boto3": true, "botocore": true,
	"celery": true, "clickhouse_driver": true, "concurrent": true, "confluent_kafka": true, "django": true, "dist-packages": true, "elasticsearch": true,
	"elastic_transport": true, "eventlet": true, "flask": true, "gevent": true, "google": true, "grpc": true, "gunicorn": true, "http": true, "httpcore": true,
	"httpx": true, "kafka": true, "kombu": true, "logging": true, "multiprocessing": true, "mysql": true, "MySQLdb": true, "pika": true, "psycopg": true,
	"psycopg2": true, "psycopg_pool": true, "pymongo": true, "pymysql": true, "redis": true, "requests": true, "site-packages": true, "sqlalchemy": true,
	"starlette": true, "tornado": true, "urllib": true, "urllib3": true, "uvicorn": true, "uvloop": true, "werkzeug": true, "zmq": true,
}

// modules are files of Python's own library that a thread waits within.
var modules = map[string]bool{
	"base_events.py": true, "contextlib.py": true, "events.py": true, "functools.py": true, "queue.py": true, "runners.py": true, "selectors.py": true,
	"smtplib.py": true, "socket.py": true, "socketserver.py": true, "ssl.py": true, "subprocess.py": true, "threading.py": true,
}

// isLibrary says whether a file is of Python itself or of a package, by its path.
func isLibrary(file string) bool {
	if strings.HasPrefix(file, "<") {
		return true
	}
	parts := strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 || len(parts) == 1 && modules[parts[0]] {
		return true
	}
	for i, p := range parts[:len(parts)-1] {
		// lib/python3.11/threading.py is of Python itself.
		if packages[p] && (i == 0 || strings.HasPrefix(parts[i-1], "python") || parts[i-1] == "site-packages") || p == "site-packages" || p == "dist-packages" || strings.HasPrefix(p, "python") && i > 0 && parts[i-1] == "lib" {
			return true
		}
	}
	return false
}

// whereOf returns the innermost place in the program's own code, in printed form.
func whereOf(t *thread) string {
	if len(t.frames) == 0 {
		return ""
	}
	at := t.frames[0]
	for _, f := range t.frames {
		if !isLibrary(f.file) {
			at = f
			break
		}
	}
	return at.function + " (" + at.file[strings.LastIndexAny(at.file, `/\`)+1:] + ")"
}

// runsLoop says whether a thread is in a function that its event loop called.
func runsLoop(t *thread) bool {
	return len(t.frames) > 0 && slices.ContainsFunc(t.frames[1:], func(f frame) bool { return f.function == "_run_once" && strings.HasSuffix(f.file, "base_events.py") })
}

// lockOf returns the code in which a thread waits for a lock that another thread holds, "" if it waits for none. Waits of conditions, events and queues end in
// acquire, too: there threads wait for work.
func lockOf(t *thread) string {
	for i, f := range t.frames {
		if f.function == "acquire" {
			continue
		}
		file := f.file[strings.LastIndexAny(f.file, `/\`)+1:]
		if i == 0 || file == "threading.py" || file == "queue.py" || file == "thread.py" || file == "connection.py" || file == "synchronize.py" {
			return ""
		}
		if folders := strings.FieldsFunc(f.file, func(r rune) bool { return r == '/' || r == '\\' }); file == "__init__.py" && len(folders) > 1 {
			file = folders[len(folders)-2] + "/" + file
		}
		return f.function + " (" + file + ")"
	}
	return ""
}

// emitFacts writes the event loops that stand in a call, and the threads that wait for the network
// at one place.
func emitFacts(b *evidence.Builder, subject evidence.SubjectID, all []thread) {
	busy, at := 0, make(map[string]int)
	line := make(map[string]int64)
	locked, most := 0, ""
	locks := make(map[string]int)
	for i := range all {
		t := &all[i]
		what, where := placeOf(t), whereOf(t)
		if runsLoop(t) && t.frames[0].function != "select" && (what == forPeer || what == asleep || what == forLock) {
			b.FactAt(subject, evidence.FactLoopBlocked, what+evidence.Link+where, 1, t.line)
		}
		if what == forWork || what == forEvents || what == outside {
			continue
		}
		busy++
		if lock := lockOf(t); lock != "" {
			locked++
			if locks[lock]++; locks[lock] > locks[most] {
				most = lock
			}
		}
		if what == forPeer {
			if at[where]++; at[where] == 1 {
				line[where] = t.line
			}
		}
	}
	if locked > 0 {
		b.FactAt(subject, evidence.FactThreadsLocked, most, float64(locked), all[0].line)
		b.FactAt(subject, evidence.FactThreadsSeen, "", float64(busy), all[0].line)
	}
	most = ""
	for where, n := range at {
		if n > at[most] || n == at[most] && where < most {
			most = where
		}
	}
	b.FactAt(subject, evidence.FactThreadsBusy, strconv.Itoa(busy), float64(busy), all[0].line)
	if most != "" {
		b.FactAt(subject, evidence.FactThreadsAwait, most, float64(at[most]), line[most])
	}
}

// addTable groups threads by what they do and where.
func addTable(b *evidence.Builder, all []thread) {
	type group struct {
		what, where, names string
		n                  int
	}
	by := make(map[string]*group)
	var groups []*group
	for i := range all {
		t := &all[i]
		what := placeOf(t)
		where := whereOf(t)
		g := by[what+where]
		if g == nil {
			g = &group{what: what, where: where, names: t.name}
			by[what+where] = g
			groups = append(groups, g)
		}
		g.n++
	}
	sorting.Short(groups, func(x, y *group) int { return cmp.Compare(y.n, x.n) })
	t := evidence.Table{Title: "threads of the Python program", Columns: []string{"", "threads", "where", "one of them"}}
	for _, g := range groups[:min(len(groups), mostShown)] {
		t.Rows = append(t.Rows, []string{g.what, strconv.Itoa(g.n), g.where, g.names})
	}
	b.Table(t)
	for i := range all {
		if x := &all[i]; x.name == "MainThread" && placeOf(x) != atWork && placeOf(x) != forEvents && placeOf(x) != outside {
			b.Warnf(x.line, "the main thread does not run: it is to %s. A second look a few seconds later shows whether it stays there: py-spy dump --pid PID", placeOf(x))
		}
	}
}
