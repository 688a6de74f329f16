package threads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// The program's own function is named, whatever of libraries and runtimes lies between, and why the
// call takes long.
func TestNativeOwner(t *testing.T) {
	for want, frames := range map[string]string{
		"fsync of /j in commit_batch":            "fsync|- of /j|- sp 0x1|- kernel jbd2_log_wait_commit|fsync (libc.so.6)|commit_batch|serve|[svc]",
		"fsync of /j in ledger::post":            "fsync|- of /j|fsync (libc.so.6)|<std::fs::File>::sync_all|ledger::post::{{closure}}|core::ops::function::FnOnce::call_once",
		"pread of /x.db (from disk) in unixRead": "pread|- of /x.db|- kernel folio_wait_bit_common|pread64 (libc.so.6)|unixRead (libsqlite3.so.0)",
		"pread of /x.db in load":                 "pread|- of /x.db|pread64 (libc.so.6)|sqlite3_step (libsqlite3.so.0)|load.constprop.0",
		"pwrite of /x.dat (to disk) in keep":     "pwrite|- of /x.dat|- kernel submit_bio_wait|pwrite64 (libc.so.6)|keep",
		"sync I/O: sendto to a UNIX socket that its reader empties too slowly in tell": "sendto|- of socket|- kernel unix_wait_for_peer|send (libc.so.6)|tell",
		"page fault from disk in lookup":                                               "page fault|- sp 0x1|- kernel folio_wait_bit_common|lookup",
		"page fault from disk (reading /x) in lookup":                                  "page fault|- of /x|- sp 0x1|- kernel folio_wait_bit_common|memcpy (libc.so.6)|lookup",
		"page fault (direct reclaim) in load":                                          "page fault|- of /x|- kernel reclaim_throttle|load",
		"page fault (direct reclaim) in fill":                                          "page fault|- sp 0x1|- kernel shrink_lruvec|fill",
		"write to a pipe that its reader empties too slowly in log_line":               "write|- of pipe|- kernel anon_pipe_write|write (libc.so.6)|log_line",
		"write to a pipe that gzip empties too slowly in log_line":                     "write|- of pipe gzip|- kernel anon_pipe_write|write (libc.so.6)|log_line",
		"sync I/O: sendto to unix:/run/log that its reader empties too slowly in tell": "sendto|- of peer unix:/run/log|- kernel sock_alloc_send_pskb|send (libc.so.6)|tell",
		"write of /log (write throttling) in log_line":                                 "write|- of /log|- kernel balance_dirty_pages|log_line",
		"futex mutex journal_lock in bank::Vault::enter":                               "futex mutex|- of journal_lock|___pthread_mutex_lock (libc.so.6)|std::mutex::lock|bank::(anonymous namespace)::Vault::enter",
		"futex mutex at 0x10":                                                          "futex mutex|- of 0x10|0x1234 (libc.so.6)|an unknown function|never",
		"futex mutex table in look_up":                                                 "futex|- of table|libc.so.6+0x85e96|__pthread_rwlock_wrlock (libc.so.6)|look_up",
		"Atomics.wait in use (src/log.ts)":                                             "futex with a timeout|- of 0x10|0x85f16 (libc.so.6)|pthread_cond_timedwait (libc.so.6)|v8::internal::FutexEmulation::WaitSync (node)|v8::internal::Builtin_AtomicsWait (node)|Builtins_CEntry_Return1 (node)|sleep (node_modules/atomic-sleep/index.js)|release (node_modules/sonic-boom/index.js)|use (src/log.ts)",
		"Atomics.wait in ask (src/ask.ts)":                                             "futex with a timeout|- of 0x10|v8::internal::Builtin_AtomicsWait (node)|ask (src/ask.ts)",
		"Python's interpreter lock (GIL) in eval":                                      "futex with a timeout|- of gil+0x8|pthread_cond_timedwait (libc.so.6)|take_gil|eval",
		"Python's interpreter lock (GIL)":                                              "futex mutex|- of _PyRuntime+0x1b0|pthread_mutex_lock (libc.so.6)|take_gil|PyEval_RestoreThread|an unknown function",
		"starting and ending threads in serve":                                         "futex mutex|- of 0x10|- kernel futex_do_wait|__lll_lock_wait_private (libc.so.6)|libc.so.6+0x863b3|<std::sys::thread::unix::Thread>::join|serve",
		"futex at 0x10 in serve":                                                       "futex|- of 0x10|- kernel futex_do_wait|libc.so.6+0x863b3|<std::sys::thread::unix::Thread>::join|serve",
		"starting and ending threads in grade":                                         "futex mutex|- of 0x10|- kernel futex_do_wait|__lll_lock_wait_private (libc.so.6)|pthread_create (libc.so.6)|<std::sys::thread::unix::Thread>::new|grade",
		"futex done in commit":                                                         "futex|- of done|pthread_cond_wait (libc.so.6)|commit|pthread_mutex_lock (libc.so.6)",
		"futex queue+0x28 in work":                                                     "futex|- of queue+0x2c|work",
		"fork in run_helper":                                                           "futex mutex|- of 0x10|- kernel futex_do_wait|__lll_lock_wait_private (libc.so.6)|libc.so.6+0xd4820|__libc_fork (libc.so.6)|run_helper",
		"clone3 (until the child runs its program) in run_helper":                      "clone3|- kernel kernel_clone|posix_spawn (libc.so.6)|run_helper",
		"memory compaction in fill":                                                    "memory compaction|fill",
		"futex at 0x10 in month_sums (ledger/views.py)":                                "futex|- of 0x10|sem_wait (libc.so.6)|Lock.acquire (lib/python3.11/threading.py)|month_sums (ledger/views.py)|<module> (ledger/main.py)",
		"futex at 0x10 in parse (site-packages/graphql/language/parser.py)":            "futex|- of 0x10|Lock.acquire (lib/python3.11/threading.py)|read (site-packages/graphql/language/lexer.py)|parse (site-packages/graphql/language/parser.py)|execute (site-packages/strawberry/schema.py)|run (site-packages/graphql/run.py)|<module> (ledger/main.py)",
		"epoll_wait":                                 "epoll_wait|EpollSelector.select (lib/python3.11/selectors.py)|BaseEventLoop._run_once (lib/python3.11/asyncio/base_events.py)|Server.run (site-packages/uvicorn/server.py)|serve (ledger/main.py)",
		"epoll_wait in answer (ledger/main.py)":      "epoll_wait|poll (lib/python3.11/selectors.py)|answer (ledger/main.py)|BaseEventLoop._run_once (lib/python3.11/asyncio/base_events.py)|serve (ledger/main.py)",
		"futex at 0x10 in <module> (ledger/main.py)": "futex|- of 0x10|sem_wait (libc.so.6)|<module> (ledger/main.py)",
		"flock of /l in main.lock":                   "flock|- of /l|internal/runtime/syscall.Syscall6|syscall.RawSyscall6|main.lock",
	} {
		if got := threads.Native(stacktest.Kernel(strings.Split(frames, "|")...), "").Reason(); got != want {
			t.Errorf("%s: %q, want %q", frames, got, want)
		}
	}
	for caller, state := range map[string]evidence.Kind{"sleep (node_modules/atomic-sleep/index.js)": evidence.SleepWait, "ask (src/ask.ts)": evidence.SyncWait} {
		if v := threads.Native(stacktest.Kernel("futex with a timeout", "- of 0x10", "v8::internal::Builtin_AtomicsWait", caller), ""); v.State != state {
			t.Errorf("Atomics.wait in %s is %v", caller, v.State)
		}
	}
	if v := threads.Native(stacktest.Kernel("running", "count_coins", "[svc]"), ""); v.Owner != "count_coins" || v.State != evidence.Running {
		t.Errorf("of one that runs: %+v", v)
	}
}

// What the kernel recorded of a wait gives the look its function and file, and others in the same call theirs.
func TestKernelDetail(t *testing.T) {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "svc", PID: 4711}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
	stack := func(kernel, user string) evidence.StackID {
		var frames []evidence.Frame
		for f := range strings.FieldsSeq(kernel) {
			frames = append(frames, evidence.Frame{Func: p.Name(f), File: p.Name(evidence.KernelFile)})
		}
		for f := range strings.FieldsSeq(user) {
			frames = append(frames, evidence.Frame{Func: p.Name(f), File: p.Name("svc")})
		}
		return p.Stack(frames)
	}
	look := func(at int64, tid evidence.LaneID, text string) {
		p.Sample(evidence.Sample{Time: at, Lane: tid, Stack: stacktest.Intern(p, stacktest.Kernel(strings.Split(text, "|")...)), Type: p.Name(evidence.SampleSyscall), Value: 1, Origin: p.Origin(1)})
	}
	const ms = int64(1e6)
	at := int64(1763689985e9)
	wait := func(tid evidence.LaneID, from, to int64, cause, file string, s evidence.StackID) {
		v := evidence.Interval{Lane: tid, Kind: evidence.InKernel, Start: from, End: to, Cause: p.Name(cause), Stack: s, Origin: p.Origin(1)}
		if file != "" {
			v.Extra = []evidence.Extra{{Key: evidence.Operation, Value: float64(p.Name(file))}}
		}
		p.Interval(v)
	}
	fault := stack("io_schedule folio_wait_bit_common filemap_fault exc_page_fault", "lookup serve")
	sync := stack("jbd2_log_wait_commit __x64_sys_fsync do_syscall_64", "syscall.Syscall main.commit")
	for i := range int64(4) {
		wait(1, at+i*100*ms, at+i*100*ms+20*ms, evidence.KernelDiskFault, "/x.db", fault)
		look(at+i*100*ms+10*ms, 1, "page fault|- sp 0x1|- kernel folio_wait_bit_common|lookup")
	}
	look(at+350*ms, 1, "page fault|- sp 0x1|- kernel folio_wait_bit_common|lookup") // its wait was not recorded
	wait(2, at, at+30*ms, evidence.KernelFsync, "/j", sync)
	look(at+10*ms, 2, "fsync|- of /j|- sp 0x1")
	wait(2, at+200*ms, at+230*ms, evidence.KernelFsync, "/j", sync)
	look(at+210*ms, 2, "futex|- of 0x10|- sp 0x1") // another call than the one that was recorded
	wait(3, at, at+30*ms, evidence.KernelCompaction, "", 0)
	look(at+10*ms, 3, "running")
	run := func(tid evidence.LaneID, at int64, class string, s evidence.StackID) {
		p.Sample(evidence.Sample{Time: at, Lane: tid, Stack: s, Type: p.Name(evidence.SampleOnCPU), Class: p.Name(class), Value: 10 * ms, Origin: p.Origin(1)})
	}
	run(4, at, "", stack("", "count"))
	look(at+5*ms, 4, "running")
	look(at+50*ms, 4, "running") // nobody knows where by then
	forked := stack("copy_page_range dup_mm copy_process kernel_clone __do_sys_clone", "start_helper")
	run(5, at, evidence.KernelFork, forked)
	look(at+5*ms, 5, "running")
	wait(6, at, at+20*ms, evidence.KernelSleep, "", sync)
	wait(6, at+20*ms, at+40*ms, evidence.KernelPreempted, "", sync)
	look(at+30*ms, 6, "running")
	look(at+50*ms, 6, "running")
	p.Close()
	of := threads.Readers{"": threads.NativeStacks}
	threads.Adopt(b, of)
	got := make(map[evidence.LaneID][]string)
	for _, l := range threads.Of(b, of).Samples(0) {
		v := threads.Native(threadstack.Of(b, l.Stack), "")
		if v.Ready {
			v.Owner += "ready"
		}
		got[l.Lane] = append(got[l.Lane], strings.TrimSpace(v.Reason()+" · "+v.Owner))
	}
	fromDisk := "page fault from disk (reading /x.db) in lookup · lookup"
	for lane, want := range map[evidence.LaneID][]string{
		1: {fromDisk, fromDisk, fromDisk, fromDisk, fromDisk},
		2: {"fsync of /j in main.commit · main.commit", "futex at 0x10 ·"},
		3: {"memory compaction ·"},
		4: {"· count", "·"},
		5: {"fork in start_helper · start_helper"},
		6: {"· ready", "·"},
	} {
		if !slices.Equal(got[lane], want) {
			t.Errorf("thread %d: %q, want %q", lane, got[lane], want)
		}
	}
}
