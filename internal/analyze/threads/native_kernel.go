package threads

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/codepath"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// reasons say why a thread waits, by the first letters of the kernel's function in which it waits during a call on a file or a page
// fault (Linux 4.14 to 6.18). The call itself does not tell: it is the same whether its data was in memory or not.
var reasons = []struct {
	reason    string
	functions []string
}{
	{evidence.KernelReclaim, []string{"throttle_direct_reclaim", "reclaim_throttle", "do_try_to_free_pages", "try_to_free", "shrink_", "mem_cgroup_", "__mem_cgroup_", "wait_iff_congested", "congestion_wait"}},
	{evidence.KernelThrottled, []string{"balance_dirty_pages"}},
	{"journal of the file system", []string{"jbd2_", "wait_transaction_locked", "add_transaction_credits", "start_this_handle", "do_get_write_access", "xlog_", "xfs_log_", "btrfs_commit_transaction", "wait_current_trans", "wait_log_commit"}},
	{"from disk", []string{"folio_wait", "wait_on_page_bit", "__folio_lock", "__lock_page", "io_schedule", "filemap_", "blk_", "bio_", "submit_bio", "__wait_on_buffer", "wait_on_buffer", "iomap_dio", "dio_", "__iomap_dio", "rq_qos_wait", "wbt_wait"}},
	{"until the child runs its program", []string{"wait_for_vfork_done", "kernel_clone", "_do_fork"}},
	{"lock of the memory map", []string{"rwsem_down_", "mmap_read_lock", "lock_mm_and_find_vma", "vma_start_"}},
}

// nativeReason returns why a call on a file, or a page fault, takes long; "" if that is unknown or the call itself says it. class is the
// kernel class that the wait is charged to, "" if the reason alone gives none. in is the kernel's function in which the thread waits.
func nativeReason(call string, on evidence.Object, in string) (reason, class string) {
	reason = reasonOf(in)
	switch {
	case call == evidence.CallPageFault && on.Kind != evidence.NoObject && reason != evidence.KernelReclaim && reason != "lock of the memory map":
		return "page fault from disk (reading " + on.String() + ")", evidence.KernelDiskFault
	case call == evidence.CallPageFault && reason == "from disk":
		return evidence.KernelDiskFault, evidence.KernelDiskFault
	case call == evidence.CallPageFault && reason == "":
		return evidence.CallPageFault, ""
	case call == evidence.CallPageFault:
		return "page fault (" + reason + ")", evidence.KernelPageFault
	case reason == evidence.KernelReclaim || reason == evidence.KernelThrottled:
		return reason, reason
	case reason == "lock of the memory map" && (isReadCall(call) || isWriteCall(call) || onFiles[call]):
		return "lock of the file", "" // the inode's rw_semaphore: another call on the file holds it
	case reason == "lock of the memory map" && onMaps[call]:
		return reason, ""
	case copies[call]:
		return reason, ""
	case on.Kind == evidence.File && isWriteCall(call) && reason == "from disk":
		return "to disk", ""
	case on.Kind == evidence.File && (isReadCall(call) || isWriteCall(call) || onFiles[call]) && reason != "lock of the memory map":
		return reason, ""
	}
	return "", ""
}

// reasonOf returns why a thread waits in a function of the kernel, "" if unknown.
func reasonOf(in string) string {
	for _, r := range reasons {
		if slices.ContainsFunc(r.functions, func(f string) bool { return strings.HasPrefix(in, f) }) {
			return r.reason
		}
	}
	return ""
}

var (
	onFiles = map[string]bool{"pread": true, "preadv": true, "ftruncate": true, "fallocate": true, "openat": true, "open": true, "unlink": true, "unlinkat": true, "rename": true, "renameat": true, "getdents64": true}
	copies  = map[string]bool{"clone": true, "clone3": true, "vfork": true, forks: true}
	onMaps  = map[string]bool{"mmap": true, "munmap": true, "mremap": true, "madvise": true, "mprotect": true, "brk": true}
)

// nativeFunction takes a frame apart that is a function of the program: its name, and the library it
// is of, "" the program's own file; no name of what is no function. [evidence.UnknownFunction] is one: behind it the stack is not known.
func nativeFunction(frame string) (name, in string) {
	if frame != evidence.UnknownFunction && !threadstack.IsFunction(frame) {
		return "", ""
	}
	if i := strings.LastIndex(frame, " ("); i > 0 && strings.HasSuffix(frame, ")") && strings.Contains(frame[i:], ".so") {
		return frame[:i], frame[i+2 : len(frame)-1]
	} else if i > 0 && strings.HasSuffix(frame, ")") && codepath.OfLibrary(frame[i+2:len(frame)-1]) {
		return frame[:i], frame[i+2 : len(frame)-1]
	}
	return frame, ""
}

// tidyName returns a function as people call it: without what compilers made of it.
func tidyName(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	for {
		rest := strings.TrimSuffix(strings.TrimSuffix(name, "::{{closure}}"), "{{vtable.shim}}")
		if i := strings.LastIndexByte(rest, '.'); i > 0 && isCompilerSuffix(rest[i+1:]) { // fill.constprop.0
			rest = rest[:i]
		}
		if rest == name {
			return name
		}
		name = rest
	}
}

// isCompilerSuffix says whether the end of a name is what GCC and LLVM add to functions that they
// make of others.
func isCompilerSuffix(suffix string) bool {
	switch suffix {
	case "constprop", "isra", "part", "cold", "lto_priv", "llvm":
		return true
	}
	return suffix != "" && strings.Trim(suffix, "0123456789") == ""
}

// nativeRuntime says whether a function is of the C library or of a language's runtime, which the program called.
func nativeRuntime(name, in string) bool {
	if file, _, ok := strings.Cut(name, "+0x"); ok && in == "" { // an address in a file without names
		in = file
	}
	for _, l := range systemLibraries {
		if strings.HasPrefix(in, l) {
			return true
		}
	}
	if strings.HasPrefix(in, "[") || strings.Contains(name, "+0x") && in == "" && strings.HasPrefix(name, "[") {
		return true
	}
	if plainC[name] {
		return true
	}
	name = strings.TrimLeft(name, "<&*")
	for _, p := range runtimePrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// lockTakers are functions of C libraries, Rust and CPython that take a lock. The futex of a read-write lock, or of a lock that a runtime
// builds from a mutex and a condition variable, does not show that it is a lock.
var lockTakers = []string{"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_timed", "pthread_rwlock_clock", "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "lll_lock_wait",
	"RwLock::read_contended", "RwLock::write_contended", "Mutex::lock_contended", "RawMutex::lock_slow", "RawRwLock::lock_", "take_gil"}

// interpreterLockTakers are functions with which a thread of CPython takes the lock of its interpreter (Python/ceval_gil.c).
var interpreterLockTakers = []string{"take_gil"}

// forking are functions of C libraries that make a copy of the process. Meanwhile glibc holds the locks of
// its own that the copy must find free (sysdeps/nptl/fork.h, malloc/arena.c).
var forking = []string{"__libc_fork", "__run_fork_handlers", "__run_prefork_handlers", "__malloc_fork_lock_parent"}

// forks is the call of a thread in any part of a fork.
const forks = evidence.KernelFork

// starting are functions of C libraries that start a thread.
var starting = []string{"pthread_create", "allocate_stack", "allocate_thread_stack"}

// joining are functions in which a thread waits for another to end, and then for the C library's lock of all stacks.
var joining = []string{"pthread_join", "pthread_clockjoin", "Thread>::join"}

// waitsWithin says whether a thread waits in one of these functions, called directly by the program or through runtimes.
func waitsWithin(frames, functions []string) bool {
	for _, f := range frames {
		name, in := nativeFunction(f)
		switch {
		case name == "":
		case name == evidence.UnknownFunction:
			return false
		case slices.ContainsFunc(functions, func(l string) bool { return strings.Contains(name, l) }):
			return true
		case !nativeRuntime(name, in):
			return false
		}
	}
	return false
}

// systemLibraries are beginnings of the file names of libraries that come with a language or the system.
var systemLibraries = []string{"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "ld-2", "libm.so", "librt", "libdl", "libstdc++", "libc++", "libgcc_s", "libatomic", "libasan", "libtsan", "libjemalloc", "libtcmalloc", "libmimalloc", "liburing", "libaio"}

// runtimePrefixes are beginnings of demangled names of functions of languages' runtimes, for Rust also of its executors of asynchronous
// tasks.
var runtimePrefixes = []string{"std::", "core::", "alloc::", "__rust_", "rust_", "__gnu_cxx::", "__cxxabi", "operator new", "operator delete", "parking_lot", "lock_api::", "crossbeam", "tokio::", "mio::", "hyper::", "futures", "dyn core::", "impl core::",
	"runtime.", "internal/", "syscall.", "sync.", "os.(*File)", "os.file", "internal/poll", "golang.org/x/sys/",
	"__GI_", "__libc_", "__pthread", "pthread_", "__lll_", "__futex", "__syscall", "__internal_", "_IO_", "__new_", "___pthread", "__cancel", "__nptl", "__timedwait", "__wait", "__mtx", "cnd_", "mtx_"}

// plainC are functions of the C library in which programs wait, for programs that are linked statically, and the functions with which
// threads and programs begin.
var plainC = func() map[string]bool {
	m := make(map[string]bool)
	for f := range strings.FieldsSeq(`read write readv writev pread pwrite pread64 pwrite64 preadv pwritev open open64 openat openat64 close fsync fdatasync sync syncfs sync_file_range msync
 mmap mmap64 munmap madvise mprotect mremap brk sbrk flock lockf fcntl fcntl64 ioctl poll ppoll select pselect epoll_wait epoll_pwait accept accept4 connect send sendto sendmsg sendfile sendfile64 recv recvfrom recvmsg
 nanosleep clock_nanosleep usleep sleep wait waitpid wait4 waitid sem_wait sem_timedwait sem_post syscall fread fread_unlocked fwrite fwrite_unlocked fgets fputs puts printf fprintf vfprintf dprintf vdprintf fflush fflush_unlocked getline getdelim
 fopen fclose fputc putc malloc calloc realloc free memcpy memmove memset memcmp strlen strcpy start_thread clone clone3 _start main_thread new_do_write posix_fallocate fallocate fallocate64 ftruncate ftruncate64 rename unlink take_gil`) {
		m[f] = true
	}
	return m
}()
