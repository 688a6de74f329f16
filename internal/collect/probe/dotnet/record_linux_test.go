package dotnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipctest"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// serve makes this process one with a runtime in it, and returns the access for recording it.
func serve(t *testing.T, s *ipctest.Server) probe.Access {
	t.Helper()
	path, err := ipctest.Path(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		_ = os.Remove(path)
	})
	a := probetest.One(t, findAccess, discover.Target{PID: os.Getpid(), Runtime: "dotnet", Name: "Shop", Version: "3.1.2"})
	if a.Where != path {
		t.Fatalf("found %+v", a)
	}
	return a
}

// series returns the artifacts of a series, which must all be closed.
func series(t testing.TB, kept []*probetest.Artifact, name string) (all []*probetest.Artifact) {
	t.Helper()
	for _, k := range kept {
		if k.Meta.Series != name {
			continue
		}
		if !k.Closed {
			t.Errorf("%s was not closed", k.Meta.Name)
		}
		if !strings.HasPrefix(k.Meta.Name, name+"-0") || !strings.HasSuffix(k.Meta.Name, ".nettrace") || k.Meta.Probe != "dotnet" {
			t.Errorf("an artifact of %s is %+v", name, k.Meta)
		}
		all = append(all, k)
	}
	return all
}

// ended checks that no session stays on.
func ended(t *testing.T, s *ipctest.Server, how string) {
	t.Helper()
	for i, x := range s.Sessions() {
		for x.Ended == "" { // the fake notices a closed connection later
			time.Sleep(time.Millisecond)
			x = s.Sessions()[i]
		}
		if x.Ended != how {
			t.Errorf("session %d (%s) was %s, want %s", x.ID, x.Providers[0].Name, x.Ended, how)
		}
	}
}

func TestRecord(t *testing.T) {
	s := &ipctest.Server{Collect: 4, Info: 3, Version: "8.0.4+2d7eea25", Every: 20 * time.Millisecond, Names: []byte("names"),
		Stream: func(x ipctest.Session) []byte {
			if x.Has(sampler) {
				return []byte("stack ")
			}
			return []byte("event ")
		}}
	a := serve(t, s)
	to := probetest.Record(t, a, probe.Plan{For: time.Second})
	if len(to.Warnings)+len(to.Lacks) > 0 {
		t.Errorf("warned %v, lacks %v", to.Warnings, to.Lacks)
	}
	ended(t, s, "stopped")
	events, threads := series(t, to.Kept, "events"), series(t, to.Kept, "threads")
	if len(events) != 1 || len(threads) != 1 || len(to.Kept) != 2 {
		t.Fatalf("%d artifacts: events %d, threads %d", len(to.Kept), len(events), len(threads))
	}
	for _, k := range to.Kept {
		if text := k.String(); !strings.HasSuffix(text, "names") || strings.Count(text, " ") < 1 {
			t.Errorf("%s holds %q", k.Meta.Name, text)
		}
		if about := k.Meta.About; about.PID != os.Getpid() || about.Version != "8.0.4" || about.Name != "Shop" || about.Runtime != "dotnet" {
			t.Errorf("%s is about %+v", k.Meta.Name, about)
		}
	}
	all := s.Sessions()
	if len(all) != 3 || !all[0].Has("System.Threading.Tasks.TplEventSource") || !all[0].Has(sampler) {
		t.Fatalf("sessions %+v", all)
	}
	if names := all[2]; names.Rundown != ipc.Rundown || len(names.Providers) != 1 || names.Providers[0].Level != critical || all[0].Rundown != 0 {
		t.Errorf("names are told by %+v, and by the first %x", names, all[0].Rundown)
	}
	i := slices.IndexFunc(all, func(x ipctest.Session) bool { return x.Has("Microsoft.AspNetCore.Hosting") })
	main, seen := all[i], map[string]bool{}
	for _, p := range main.Providers {
		if seen[p.Name] {
			t.Errorf("%s is named twice", p.Name)
		}
		seen[p.Name] = true
		switch p.Name {
		case "Microsoft-Windows-DotNETRuntime":
			if p.Keywords != 0x14001 || p.Level != 4 {
				t.Errorf("the runtime's events: %+v", p)
			}
		case privateProvider:
			if p.Keywords != 1 || p.Level != 4 {
				t.Errorf("the runtime's private events: %+v", p)
			}
		case "Microsoft.AspNetCore.Hosting":
			if p.Level != 4 || p.Keywords != ^uint64(0) || p.Args != everySecond {
				t.Errorf("requests: %+v", p)
			}
		case "System.Net.NameResolution", "System.Net.Sockets", "System.Net.Security":
			if p.Level != 4 || p.Keywords != ^uint64(0) {
				t.Errorf("what calls begin with: %+v", p)
			}
		case "Microsoft-Diagnostics-DiagnosticSource":
			if p.Keywords != messages || !strings.Contains(p.Args, "System.Net.Http.Response@Event:-LoggingRequestId\n") {
				t.Errorf("calls: %+v", p)
			}
		case tracker.Name:
			if p.Keywords != tracker.Keywords|0x1|0x2 || p.Level != verbose {
				t.Errorf("awaits: %+v", p)
			}
		default:
			if p.Args != everySecond || p.Level > 1 && p.Name != "System.Runtime" {
				t.Errorf("counters: %+v", p)
			}
		}
	}
	if !seen["Microsoft-Diagnostics-DiagnosticSource"] || !seen["System.Net.Sockets"] {
		t.Errorf("it asks for no calls: %v", seen)
	}
	if main.Rundown != 0 || !main.Stacks {
		t.Errorf("the session is %+v", main)
	}
}

func TestPassive(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Info: 2}
	a := serve(t, s)
	if len(a.SwitchesOn) != 2 {
		t.Errorf("it says that it switches on %q", a.SwitchesOn)
	}
	to := probetest.Record(t, a, probe.Plan{For: time.Hour, Passive: true})
	if len(s.Sessions())+len(to.Kept) > 0 || len(to.Lacks) != 1 || to.Lacks[0].Do != "record without --passive" {
		t.Errorf("sessions %v, artifacts %v, lacks %v", s.Sessions(), to.Kept, to.Lacks)
	}
}

// TestInterrupted ends a recording early. All sessions are stopped, not dropped.
func TestInterrupted(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Info: 2, Version: "6.0.1", Every: 10 * time.Millisecond, Names: []byte("names")}
	a := serve(t, s)
	to := probetest.Begin(t, a)
	for _, name := range []string{"threads-0001.nettrace", "events-0001.nettrace"} {
		to.Wait(t, name, probetest.Some)
	}
	if err := to.End(); err != nil {
		t.Fatal(err)
	}
	ended(t, s, "stopped")
	for _, name := range []string{"events", "threads"} {
		if k := series(t, to.Kept, name); len(k) != 1 || !bytes.HasSuffix(k[0].Bytes(), []byte("names")) {
			t.Errorf("%s: %v", name, k)
		}
	}
}

// TestTooFast ends the session of all events when too many come, and continues with rare events and views of the rest.
func TestTooFast(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Info: 2, Version: "6.0.1", Every: 10 * time.Millisecond,
		Stream: func(x ipctest.Session) []byte {
			if many := slices.ContainsFunc(x.Providers, func(p ipctest.Provider) bool { return p.Keywords == ^uint64(0) }); many {
				return make([]byte, tooFast)
			}
			return []byte("Nettrace")
		}}
	a := serve(t, s)
	to := probetest.Begin(t, a)
	to.Wait(t, "events-0001.nettrace", func(b []byte) bool { return bytes.HasSuffix(b, []byte("Nettrace")) })
	to.Wait(t, "detail-0001.nettrace", func(b []byte) bool { return len(b) > 2*tooFast })
	if err := to.End(); err != nil {
		t.Fatal(err)
	}
	ended(t, s, "stopped")
	if n := len(series(t, to.Kept, "events")); n != 1 {
		t.Errorf("%d pieces of events, want 1", n)
	}
	if k := series(t, to.Kept, "detail"); len(k) != 1 || k[0].Len() > 8*tooFast {
		t.Errorf("%d pieces of detail", len(k))
	}
	if len(to.Warnings) != 2 || !strings.Contains(to.Warnings[0], "locks and waits are too frequent") || !strings.Contains(to.Warnings[1], "they, too, are recorded for 1s at a time") {
		t.Errorf("warned %q", to.Warnings)
	}
	var long []string // providers of each long session
	for _, x := range s.Sessions() {
		if !x.Has("Microsoft-AspNetCore-Server-Kestrel") {
			continue
		}
		what := ""
		for _, p := range x.Providers {
			switch {
			case p.Name == tracker.Name:
				what += "awaits "
			case p.Name == runtimeProvider && p.Keywords&keywordContention != 0:
				what += "locks "
			case p.Name == hostingProvider && p.Level > critical:
				what += "requests "
			}
		}
		long = append(long, strings.Join(slices.Sorted(slices.Values(strings.Fields(what))), " "))
	}
	if want := []string{"awaits locks requests", "locks requests", "requests", ""}; !slices.Equal(long, want) {
		t.Errorf("long sessions of %q, want %q", long, want)
	}
}

// TestTicks records allocations for a moment now and then, beside the looks at threads, and never in the long session.
func TestTicks(t *testing.T) {
	ticks := func(x ipctest.Session) bool {
		return slices.ContainsFunc(x.Providers, func(p ipctest.Provider) bool {
			return p.Name == runtimeProvider && p.Level == verbose && p.Keywords == keywordGC
		})
	}
	s := &ipctest.Server{Collect: 2, Info: 2, Version: "9.0.1", Every: 10 * time.Millisecond, Stream: func(x ipctest.Session) []byte {
		if ticks(x) {
			return []byte("ticks ")
		}
		return []byte("other ")
	}}
	to := probetest.Begin(t, serve(t, s))
	to.Wait(t, "threads-0001.nettrace", func(b []byte) bool { return bytes.Contains(b, []byte("ticks ")) })
	if err := to.End(); err != nil {
		t.Fatal(err)
	}
	ended(t, s, "stopped")
	for _, k := range series(t, to.Kept, "events") {
		if bytes.Contains(k.Bytes(), []byte("ticks ")) {
			t.Error("the long session has allocation ticks")
		}
	}
}

// turns returns the sessions, in order, of a runtime that tolerates one at a time.
func turns(s *ipctest.Server) string {
	var order []string
	for _, x := range s.Sessions() {
		what := "other"
		switch {
		case x.Has(sampler):
			what = "look"
		case x.Has("System.Runtime"):
			what = "turn"
		case x.Has(tracker.Name):
			what = "awaits"
		case len(x.Providers) == 1 && x.Providers[0].Level == critical:
			what = "names"
		case len(x.Providers) == 1 && x.Providers[0].Keywords == keywordJIT:
			what = "watch"
		}
		if (x.Rundown != 0) != (what == "names") {
			what += ", wrongly named"
		}
		order = append(order, what)
	}
	return strings.Join(order, "; ")
}

// inTurns delivers counters and looks, so that ending a session needs no wait.
func inTurns(x ipctest.Session) []byte {
	if x.Has(sampler) {
		return []byte("stack ")
	}
	return append([]byte("event "), utf16Bytes("Interval=")...)
}

// TestInTurn records a runtime that tolerates one session at a time. Looks at threads lie between the turns of the long session. Names
// are written last, by a session that no thread writes into.
func TestInTurn(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Every: 400 * time.Millisecond, Names: []byte("names"), Stream: inTurns}
	a := serve(t, s)
	to := probetest.Record(t, a, probe.Plan{For: 5 * time.Second})
	ended(t, s, "stopped")
	all := turns(s)
	if !strings.HasPrefix(all, "look; turn; look; turn") || !strings.HasSuffix(all, "turn; look; watch; names") || strings.Contains(all, "look; look") || strings.Contains(all, "wrongly") {
		t.Errorf("sessions: %s", all)
	}
	if len(to.Kept) != 2 || len(to.Warnings)+len(to.Lacks) > 0 {
		t.Errorf("%d artifacts, warned %q, lacks %v", len(to.Kept), to.Warnings, to.Lacks)
	}
	for _, name := range []string{"events", "threads"} {
		if k := series(t, to.Kept, name); len(k) != 1 || strings.Count(k[0].String(), "names") != 1 || !strings.HasSuffix(k[0].String(), "names") {
			t.Errorf("%s: %v", name, k)
		}
	}
}

// TestGenerated generates methods during the recording, in a runtime that may then crash if it writes names. It is not asked for names.
func TestGenerated(t *testing.T) {
	for _, c := range []struct {
		long time.Duration
		want string
	}{{5 * time.Second, "turn; look; watch"}, {300 * time.Millisecond, "look; turn; look; watch"}} {
		t.Run(c.long.String(), func(t *testing.T) {
			s := &ipctest.Server{Collect: 2, Every: 400 * time.Millisecond, Names: []byte("names"), Stream: func(x ipctest.Session) []byte {
				b := inTurns(x)
				if slices.ContainsFunc(x.Providers, func(p ipctest.Provider) bool { return p.Name == runtimeProvider && p.Keywords&keywordJIT != 0 }) {
					b = append(b, unloaded...)
				}
				return b
			}}
			to := probetest.Record(t, serve(t, s), probe.Plan{For: c.long})
			ended(t, s, "stopped")
			if all := turns(s); !strings.HasSuffix(all, c.want) {
				t.Errorf("sessions: %s, want …%s", all, c.want)
			}
			if len(to.Lacks) != 1 || to.Lacks[0].What != "names of methods" || !strings.Contains(to.Lacks[0].Do, "3.1.5") {
				t.Errorf("lacks %v", to.Lacks)
			}
		})
	}
}

// TestGeneratedAtFirst generates methods only as the recording begins, as any program does that has just started. It is asked for names.
func TestGeneratedAtFirst(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Every: 400 * time.Millisecond, Names: []byte("names"), Stream: func(x ipctest.Session) []byte {
		b := inTurns(x)
		if x.Providers[0].Keywords&keywordGC != 0 && x.Providers[0].Keywords&keywordJIT != 0 { // allocations, at first
			b = append(b, bytes.Repeat(ofNone, 2*fewGenerated)...)
		}
		return b
	}}
	to := probetest.Record(t, serve(t, s), probe.Plan{For: leastTicks})
	ended(t, s, "stopped")
	if all := turns(s); !strings.HasPrefix(all, "other; look") || !strings.HasSuffix(all, "watch; names") || len(to.Lacks) > 0 {
		t.Errorf("sessions: %s, lacks %v", all, to.Lacks)
	}
}

// TestGenerates cuts streams in two at every place.
func TestGenerates(t *testing.T) {
	other := append(utf16Bytes(runtimeProvider+"Rundown\x00"), 144, 0, 0, 0)
	for _, c := range []struct {
		what []byte
		want bool
	}{{unloaded, true}, {other, false}, {bytes.Repeat(ofNone, fewGenerated+1), true}, {bytes.Repeat(ofNone, fewGenerated), false}} {
		data := append(append([]byte("before"), c.what...), bytes.Repeat([]byte("after"), 20)...)
		for cut := range data {
			var g generated
			g.scanStream(data[:cut])
			g.scanStream(data[cut:])
			if g.goesOn() != c.want {
				t.Errorf("%q, cut at %d: %v", c.what, cut, g.goesOn())
			}
		}
	}
}

func TestFreesEarly(t *testing.T) {
	for version, want := range map[string]bool{"3.1.2": true, "3.1.5": false, "3.1.32": false, "3.0.3": true, "5.0.1": false, "": true} {
		if got := freesEarly(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

// TestHeap records dying objects and those on the heap. The former are among the looks, in an old runtime after everything else. The latter
// come last, until no more of them come.
func TestHeap(t *testing.T) {
	for _, x := range []struct {
		name   string
		server *ipctest.Server
		lasts  time.Duration
	}{
		{"new", &ipctest.Server{Collect: 4, Info: 3, Version: "8.0.4"}, leastDeaths},
		{"old", &ipctest.Server{Collect: 2}, time.Second},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := x.server
			var told sync.Map
			s.Every, s.Stream = 20*time.Millisecond, func(x ipctest.Session) []byte {
				if _, again := told.LoadOrStore(x.ID, true); !again && heapKeywords(x) == keywordsHeap {
					return make([]byte, 2*beginning)
				}
				return append([]byte("event "), utf16Bytes("Interval=")...) // other collections continue
			}
			a := serve(t, s)
			began := time.Now()
			to := probetest.Record(t, a, probe.Plan{For: x.lasts, Heap: true})
			if took := time.Since(began); took > x.lasts+died+walked/2 {
				t.Errorf("it took %v", took)
			}
			ended(t, s, "stopped")
			all := s.Sessions()
			last := all[len(all)-1]
			if heapKeywords(last) != keywordsHeap || last.Providers[0].Level != informational || last.Rundown != 0 || last.BufferMB != heapMB {
				t.Errorf("the last session is %+v", last)
			}
			died := 0
			for i, x := range all {
				if k := heapKeywords(x); k == keywordGC|keywordSurvival {
					if died++; !x.Has("System.Runtime") || s.Collect == 2 && i != len(all)-2 {
						t.Errorf("session %d of %d is %+v", i, len(all), x)
					}
				}
			}
			if died != 1 {
				t.Errorf("%d looks at what dies", died)
			}
			if len(series(t, to.Kept, "threads")) != 1 || len(to.Warnings) > 0 {
				t.Errorf("%d artifacts, warned %q", len(to.Kept), to.Warnings)
			}
		})
	}
}

// heapKeywords are the keywords of a session for the runtime's own provider.
func heapKeywords(x ipctest.Session) uint64 {
	for _, p := range x.Providers {
		if p.Name == runtimeProvider {
			return p.Keywords
		}
	}
	return 0
}

// TestTooFastForOld continues without the frequent events on a runtime with few sessions.
func TestTooFastForOld(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Every: 10 * time.Millisecond, Stream: func(x ipctest.Session) []byte {
		if x.ID == 2 || x.ID == 4 { // with awaits, and without; a look is between them
			return make([]byte, tooFast)
		}
		return []byte("Nettrace")
	}}
	a := serve(t, s)
	to := probetest.Record(t, a, probe.Plan{For: 9 * time.Second}) // stopping takes 1.5 s without counters
	ended(t, s, "stopped")
	if len(series(t, to.Kept, "events")) != 1 || len(series(t, to.Kept, "detail")) != 0 || len(to.Warnings) != 1 || !strings.Contains(to.Warnings[0], "recorded up to this moment") {
		t.Errorf("%d artifacts, warned %q", len(to.Kept), to.Warnings)
	}
}

func TestDiskFull(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Info: 2, Version: "6.0.1", Every: 10 * time.Millisecond}
	a := serve(t, s)
	to := probetest.NewSink()
	to.Fill()
	if err := a.Record(t.Context(), probe.Plan{For: time.Hour}, to); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("%v", err)
	}
	ended(t, s, "stopped")
}

// TestEndedByRuntime has a session that another program stops.
func TestEndedByRuntime(t *testing.T) {
	s := &ipctest.Server{Collect: 2, Info: 2, Version: "6.0.1", Every: time.Millisecond, EndAfter: 3}
	a := serve(t, s)
	to := probetest.Record(t, a, probe.Plan{For: time.Hour})
	if len(to.Warnings) == 0 || !strings.Contains(to.Warnings[0], "the runtime ended the session") {
		t.Errorf("warned %q", to.Warnings)
	}
}

func TestHangsUp(t *testing.T) {
	a := serve(t, &ipctest.Server{HangUp: true})
	err := a.Record(t.Context(), probe.Plan{For: time.Hour}, probetest.NewSink())
	if !errors.Is(err, ipc.ErrSilent) {
		t.Errorf("%v", err)
	}
}

// TestMute is interrupted while it waits for a server that never answers.
func TestMute(t *testing.T) {
	a := serve(t, &ipctest.Server{Mute: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := a.Record(ctx, probe.Plan{For: time.Hour}, probetest.NewSink()); err != nil {
		t.Error(err)
	}
}

func TestNoSocket(t *testing.T) {
	found := findAccess(t.Context(), discover.Target{PID: os.Getpid(), Runtime: "dotnet"})
	if len(found) != 1 || len(found[0].Lacks) != 1 {
		t.Fatalf("found %+v", found)
	}
	l := found[0].Lacks[0]
	if l.What != recorded || !strings.HasPrefix(l.Why, "no .NET diagnostics socket: ") || l.Do == "" {
		t.Errorf("lacks %+v", l)
	}
	if err := found[0].Record(t.Context(), probe.Plan{For: time.Hour}, probetest.NewSink()); err != nil {
		t.Error(err)
	}
	for _, other := range []discover.Target{{}, {PID: os.Getpid(), Runtime: "go"}, {PID: os.Getpid()}} {
		if found := findAccess(t.Context(), other); found != nil {
			t.Errorf("%+v: found %+v", other, found)
		}
	}
}

// TestSecrets writes a command line with secrets in pieces of each size.
func TestSecrets(t *testing.T) {
	args := []string{"/usr/bin/dotnet", "Shop.dll", "--password=hunter2", "--token", "abcdefgh12345678", "-x", "--api-key=q1", "--port=80"}
	line := "\x00\x01" + string(utf16Bytes(strings.Join(args, " "))) + "q1" + string(utf16Bytes(" and hunter2 once more"))
	for size := 1; size < 40; size++ {
		var out bytes.Buffer
		m := &masker{to: &out, secrets: secretsOf(args)}
		for chunk := range slices.Chunk([]byte(line), size) {
			if n, err := m.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := m.Flush(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if len(got) != len(line) {
			t.Fatalf("%d bytes, want %d", len(got), len(line))
		}
		want := strings.NewReplacer("hunter2", "*******", "abcdefgh12345678", "****************", "key=q1", "key=**").Replace(strings.ReplaceAll(line, "\x00", ""))
		if got = strings.ReplaceAll(got, "\x00", ""); got != want {
			t.Fatalf("in pieces of %d: %q", size, got)
		}
	}
	var out bytes.Buffer
	if _, err := io.WriteString(&masker{to: &out}, line); err != nil || out.String() != line {
		t.Errorf("without secrets: %q, %v", &out, err)
	}
}

// TestWorth checks that 200 KB in three seconds are not too many from a process that uses two cores.
func TestWorth(t *testing.T) {
	for _, test := range []struct {
		used time.Duration
		fast bool
	}{{0, true}, {300 * time.Millisecond, true}, {6 * time.Second, false}} {
		calls := 0
		s := &stream{piece: piece{limit: tooFast}, since: time.Now(), enough: func() { calls++ }, wanted: t.Context(), used: func() time.Duration { return test.used }}
		s.countBytes(200 << 10)
		if s.fast != test.fast || calls > 0 != test.fast {
			t.Errorf("200 KB beside %v of CPU: fast %v", test.used, s.fast)
		}
	}
}
