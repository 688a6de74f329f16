package syscalls

// The numbers of system calls are those of include/uapi/asm-generic/unistd.h (arm64) and
// arch/x86/entry/syscalls/syscall_64.tbl (amd64), of what threads were seen to wait in and
// what may take long. Another is called by its number.
var numbers = map[string]map[int64]string{
	"amd64": {
		0: "read", 1: "write", 2: "open", 3: "close", 4: "stat", 5: "fstat", 7: "poll", 9: "mmap", 10: "mprotect", 11: "munmap", 12: "brk",
		16: "ioctl", 17: "pread", 18: "pwrite", 19: "readv", 20: "writev", 22: "pipe", 23: "select", 24: "sched_yield", 25: "mremap",
		26: "msync", 28: "madvise", 34: "pause", 35: "nanosleep", 40: "sendfile", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom",
		46: "sendmsg", 47: "recvmsg", 56: "clone", 57: "fork", 58: "vfork", 59: "execve", 61: "wait4", 65: "semop", 70: "msgrcv", 69: "msgsnd",
		72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 76: "truncate", 77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir",
		87: "unlink", 128: "rt_sigtimedwait", 130: "rt_sigsuspend", 162: "sync", 202: "futex", 208: "io_getevents", 217: "getdents64", 219: "restart_syscall",
		220: "semtimedop", 221: "fadvise", 230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat", 263: "unlinkat", 264: "renameat", 270: "pselect",
		271: "ppoll", 275: "splice", 277: "sync_file_range", 281: "epoll_wait", 285: "fallocate", 288: "accept", 295: "preadv", 296: "pwritev",
		299: "recvmmsg", 306: "syncfs", 307: "sendmmsg", 316: "renameat", 326: "copy_file_range", 327: "preadv", 328: "pwritev",
		426: "io_uring_enter", 441: "epoll_wait", 449: "futex_waitv", 455: "futex_wait",
	},
	"arm64": {
		4: "io_getevents", 20: "epoll_create", 22: "epoll_wait", 25: "fcntl", 29: "ioctl", 32: "flock", 35: "unlinkat", 38: "renameat", 45: "truncate",
		46: "ftruncate", 47: "fallocate", 56: "openat", 57: "close", 61: "getdents64", 63: "read", 64: "write", 65: "readv", 66: "writev", 67: "pread",
		68: "pwrite", 69: "preadv", 70: "pwritev", 71: "sendfile", 72: "pselect", 73: "ppoll", 76: "splice", 79: "stat", 80: "fstat", 81: "sync",
		82: "fsync", 83: "fdatasync", 84: "sync_file_range", 95: "waitid", 98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 124: "sched_yield", 128: "restart_syscall",
		133: "rt_sigsuspend", 137: "rt_sigtimedwait", 188: "msgrcv", 189: "msgsnd", 192: "semtimedop", 193: "semop", 202: "accept", 203: "connect",
		206: "sendto", 207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 214: "brk", 215: "munmap", 216: "mremap", 220: "clone", 221: "execve",
		222: "mmap", 223: "fadvise", 226: "mprotect", 227: "msync", 233: "madvise", 242: "accept", 243: "recvmmsg", 260: "wait4", 267: "syncfs", 269: "sendmmsg",
		276: "renameat", 285: "copy_file_range", 286: "preadv", 287: "pwritev", 426: "io_uring_enter", 441: "epoll_wait", 449: "futex_waitv", 455: "futex_wait",
	},
}

// descriptors are the calls whose first argument is one.
var descriptors = map[string]bool{
	"read": true, "write": true, "pread": true, "pwrite": true, "readv": true, "writev": true, "preadv": true, "pwritev": true,
	"sendto": true, "recvfrom": true, "sendmsg": true, "recvmsg": true, "recvmmsg": true, "sendmmsg": true, "connect": true, "accept": true,
	"fsync": true, "fdatasync": true, "sync_file_range": true, "syncfs": true, "flock": true, "fcntl": true, "ftruncate": true, "fallocate": true,
	"sendfile": true, "splice": true, "copy_file_range": true, "ioctl": true, "getdents64": true, "close": true, "fstat": true, "fadvise": true,
}

// What the arguments of futex say (include/uapi/linux/futex.h).
const (
	futexCommand    = 0x7f // without FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME
	futexWait       = 0
	futexLockPI     = 6
	futexWaitBitset = 9
	futexLockPI2    = 13
)

// Values of mutexes' words while a thread waits: in
// glibc (nptl/lowlevellock.h), in Rust's and Go's libraries 2, in musl the highest bit.
const (
	takenAwaited     = 2
	takenAwaitedMusl = 1 << 31
	parked           = 1<<32 - 1 // Rust's thread::park (std/src/sys/sync/thread_parking/futex.rs): it waits for work
)
