// Package kernelclass maps the functions on a stack to a mechanism of the Linux kernel: compaction, a page fault, fsync. Formats of stacks
// share it.
//
// Its opinion: one function is enough, and the most precise one counts; a stack shows what the kernel was doing, not whether that was
// bad.
package kernelclass

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// rule maps a kernel function on a stack to a mechanism. Names are those of Linux 4.14 to 6.18; one that ends in * stands for all names
// with that beginning.
type rule struct {
	mechanism string
	functions []string
	also      []string // one of these must be on the stack, too
}

// rules are in order: the more precise explanation comes first, such as compaction before the page fault that asked for the memory.
var rules = []rule{
	{mechanism: evidence.KernelSoftirq, functions: []string{"handle_softirqs", "__do_softirq", "do_softirq"}},
	{mechanism: evidence.KernelInterrupt, functions: []string{"handle_irq_event*", "__common_interrupt", "handle_edge_irq", "handle_fasteoi_irq"}},
	{mechanism: evidence.KernelCompaction, functions: []string{"__alloc_pages_direct_compact", "try_to_compact_pages", "compact_zone*", "__compact_zone", "compact_node*"}},
	{mechanism: evidence.KernelReclaim, functions: []string{"__alloc_pages_direct_reclaim", "try_to_free_pages", "try_to_free_mem_cgroup_pages", "do_try_to_free_pages", "mem_cgroup_handle_over_high", "__mem_cgroup_handle_over_high", "throttle_direct_reclaim", "reclaim_throttle"}},
	{mechanism: evidence.KernelSwapIn, functions: []string{"do_swap_page", "swapin_readahead", "swap_readpage", "swap_read_folio"}},
	{mechanism: evidence.KernelFsync, functions: []string{"vfs_fsync*", "file_write_and_wait_range", "generic_write_sync", "blkdev_issue_flush", "ext4_sync_file*", "xfs_file_fsync", "btrfs_sync_file", "f2fs_sync_file", "do_fsync", "ksys_sync", "sync_filesystem", "ksys_sync_file_range", "*_sys_fsync", "*_sys_fdatasync", "*_sys_sync", "*_sys_syncfs", "*_sys_msync"}},
	{mechanism: evidence.KernelThrottled, functions: []string{"balance_dirty_pages*"}},
	{mechanism: evidence.KernelDiskFault, functions: faults, also: disks},
	{mechanism: evidence.KernelNUMA, functions: []string{"do_numa_page", "do_huge_pmd_numa_page", "migrate_misplaced_page*", "migrate_misplaced_folio*", "migrate_misplaced_transhuge_page", "numa_migrate_prep", "numa_migrate_check", "task_numa_fault", "task_numa_work", "change_prot_numa"}},
	{mechanism: evidence.KernelPageFault, functions: faults},
	{mechanism: evidence.KernelFork, functions: forks, also: futexes},
	{mechanism: evidence.KernelFutex, functions: futexes},
	{mechanism: evidence.KernelFork, functions: []string{"kernel_clone", "_do_fork", "do_fork", "copy_process"}},
	{mechanism: evidence.KernelMapping, functions: []string{"*_sys_mmap*", "ksys_mmap_pgoff", "vm_mmap_pgoff", "*_sys_munmap", "__vm_munmap", "*_sys_mremap", "*_sys_madvise", "do_madvise*", "*_sys_mprotect", "do_mprotect_pkey", "*_sys_brk"}},
	{mechanism: evidence.KernelFileLock, functions: []string{"flock_lock_inode*", "posix_lock_inode*", "fcntl_setlk*", "*_sys_flock"}},
	{mechanism: evidence.KernelDisk, functions: disks},
	{mechanism: evidence.KernelSend, functions: []string{"sock_sendmsg*", "__sock_sendmsg", "sock_write_iter", "__sys_sendto", "__sys_sendmsg", "___sys_sendmsg", "tcp_sendmsg*", "udp_sendmsg*", "unix_stream_sendmsg"}},
	{mechanism: evidence.KernelReceive, functions: []string{"sock_recvmsg*", "sock_read_iter", "__sys_recvfrom", "__sys_recvmsg", "___sys_recvmsg", "tcp_recvmsg*", "udp_recvmsg*", "unix_stream_recvmsg", "unix_stream_read_generic"}},
	{mechanism: evidence.KernelAccept, functions: []string{"inet_csk_accept", "inet_accept", "do_accept", "__sys_accept4*"}},
	{mechanism: evidence.KernelPipe, functions: []string{"pipe_read", "pipe_write", "anon_pipe_read", "anon_pipe_write", "fifo_open"}},
	{mechanism: evidence.KernelPoll, functions: []string{"ep_poll", "do_epoll_wait", "do_epoll_pwait*", "do_sys_poll", "do_poll*", "do_select", "core_sys_select", "*_sys_epoll_wait", "*_sys_epoll_pwait", "*_sys_poll", "*_sys_ppoll", "*_sys_select", "*_sys_pselect6"}},
	{mechanism: evidence.KernelSleep, functions: []string{"hrtimer_nanosleep", "do_nanosleep", "common_nsleep*", "*_sys_nanosleep", "*_sys_clock_nanosleep"}},
	{mechanism: evidence.KernelChild, functions: []string{"do_wait", "kernel_wait4", "kernel_waitid*", "*_sys_wait4", "*_sys_waitid"}},
	{mechanism: evidence.KernelFiles, functions: []string{"vfs_read*", "vfs_write*", "vfs_iter_*", "ksys_read", "ksys_write", "ksys_pread64", "ksys_pwrite64", "do_readv*", "do_writev*", "do_sys_open*", "path_openat", "filename_lookup", "vfs_stat*", "vfs_fstat*", "do_unlinkat", "do_renameat2", "iterate_dir", "do_sendfile"}},
	{mechanism: evidence.KernelOther, functions: []string{"*_sys_*", "do_syscall_64", "el0_svc", "invoke_syscall"}},
	{mechanism: evidence.KernelInterrupt, functions: []string{"asm_common_interrupt", "asm_sysvec_*", "sysvec_*", "el0_irq*", "el1h_64_irq*"}},
	{mechanism: evidence.KernelOther, functions: []string{"entry_SYSCALL_64*"}},
}

var (
	futexes = []string{"do_futex", "futex_wait*", "futex_wake*", "__futex_wait", "futex_lock_pi*", "*_sys_futex*"}
	// From the C library, not the kernel: forks of one process take turns by the library's own locks.
	forks  = []string{"__libc_fork", "__run_fork_handlers", "__run_prefork_handlers", "__malloc_fork_lock_parent"}
	faults = []string{"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "do_page_fault", "__do_page_fault", "async_page_fault", "page_fault", "do_mem_abort"}
	disks  = []string{"io_schedule*", "folio_wait_bit*", "__folio_lock*", "wait_on_page_bit*", "submit_bio*", "blk_mq_*", "blk_finish_plug", "__blk_flush_plug", "blk_flush_plug*", "bio_*", "page_cache_ra_*", "page_cache_sync_ra", "filemap_read_folio", "blkdev_*", "dio_*", "iomap_dio_*", "__wait_on_buffer",
		"jbd2_log_wait_commit", "jbd2_log_do_checkpoint", "__jbd2_log_wait_for_space", "xlog_grant_head_wait", "xlog_wait_on_iclog"} // a journal that must be on the disk, or has no room until it is
)

// mechanisms finds the rule of a function.
type mechanisms struct {
	exact  map[string]uint64
	begins []prefix
}

type prefix struct {
	text string
	any  bool // any prefix is allowed, and a name follows: "*_sys_"
	of   uint64
}

var table = newMechanisms()

// Set is a set of rules.
type Set uint64

// Of returns the rules that name a kernel function; | combines the rules of a stack.
func Of(function string) Set { return Set(table.rulesOf(function)) }

// OfProgram returns the rules that name a function of a program.
func OfProgram(function string) Set {
	if slices.Contains(forks, function) {
		return Of(function)
	}
	return 0
}

const alsoFirst = 32 // the bit of the first rule's also

func newMechanisms() *mechanisms {
	m := &mechanisms{exact: make(map[string]uint64)}
	add := func(function string, of uint64) {
		text, open := strings.CutSuffix(function, "*")
		rest, any := strings.CutPrefix(text, "*")
		if !open && !any {
			m.exact[text] |= of
			return
		}
		if any && !open {
			rest += "\x00"
		}
		m.begins = append(m.begins, prefix{rest, any, of})
	}
	for i, r := range rules {
		for _, f := range r.functions {
			add(f, 1<<i)
		}
		for _, f := range r.also {
			add(f, 1<<(alsoFirst+i))
		}
	}
	return m
}

// rulesOf returns the rules that name a function, as bits.
func (m *mechanisms) rulesOf(function string) uint64 {
	function, _, _ = strings.Cut(function, ".") // suffix added by a compiler: ".constprop.0"
	set := m.exact[function]
	for _, p := range m.begins {
		switch {
		case !p.any && strings.HasPrefix(function, p.text):
			set |= p.of
		case p.any && strings.Contains(function+"\x00", p.text) && strings.HasPrefix(function, "__"):
			set |= p.of
		}
	}
	return set
}

// Mechanism returns the mechanism of a set of rules, one of evidence.Kernel…; "" if there is none.
func (set Set) Mechanism() string {
	for i, r := range rules {
		if set&(1<<i) != 0 && (r.also == nil || set&(1<<(alsoFirst+i)) != 0) {
			return r.mechanism
		}
	}
	return ""
}

// fileServers are functions in which tasks wait for the answer of a file server, or of a program that serves files (FUSE). Sources: net/sunrpc/sched.c, fs/nfs/pagelist.c,
// fs/fuse/dev.c and fs/smb/client/transport.c of Linux 3.10 to 6.18.
var fileServers = []string{"rpc_wait_bit_killable", "nfs_wait_bit_killable", "nfs_wait_on_request", "nfs4_wait_clnt_recover", "request_wait_answer", "wait_answer_interruptible", "cifs_wait_for_response"}

// AwaitsFileServer says whether a task in a kernel function waits for the answer of a file server.
func AwaitsFileServer(function string) bool { return slices.Contains(fileServers, function) }
