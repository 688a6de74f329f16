package kernelclass

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Stacks as kernels give them, innermost first, and what they say.
func TestMechanisms(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"clear_page_erms folio_zero_user do_anonymous_page __handle_mm_fault handle_mm_fault do_user_addr_fault exc_page_fault asm_exc_page_fault", evidence.KernelPageFault},
		{"migrate_misplaced_page do_numa_page handle_mm_fault __do_page_fault page_fault", evidence.KernelNUMA},                                       // 3.16
		{"folio_copy migrate_misplaced_folio do_numa_page handle_mm_fault do_user_addr_fault exc_page_fault asm_exc_page_fault", evidence.KernelNUMA}, // 6.12
		{"change_prot_numa task_numa_work task_work_run exit_to_user_mode_loop", evidence.KernelNUMA},                                                 // looks for pages to ask about
		{"isolate_migratepages_block compact_zone compact_zone_order try_to_compact_pages __alloc_pages_direct_compact __alloc_pages_slowpath.constprop.0 do_huge_pmd_anonymous_page handle_mm_fault exc_page_fault asm_exc_page_fault", evidence.KernelCompaction},
		{"shrink_folio_list shrink_lruvec shrink_node do_try_to_free_pages try_to_free_pages __alloc_pages_slowpath.constprop.0 filemap_fault handle_mm_fault asm_exc_page_fault", evidence.KernelReclaim},
		{"__schedule schedule io_schedule folio_wait_bit_common filemap_fault __do_fault do_fault handle_mm_fault exc_page_fault asm_exc_page_fault", evidence.KernelDiskFault},
		{"__schedule schedule io_schedule folio_wait_bit_common do_swap_page handle_mm_fault asm_exc_page_fault", evidence.KernelSwapIn},
		{"__schedule schedule jbd2_log_wait_commit ext4_sync_file vfs_fsync_range __x64_sys_fsync do_syscall_64 entry_SYSCALL_64_after_hwframe", evidence.KernelFsync},
		{"__schedule schedule io_schedule submit_bio_wait blkdev_issue_flush ext4_sync_file ext4_buffered_write_iter vfs_write __x64_sys_pwrite64 do_syscall_64", evidence.KernelFsync}, // O_DSYNC
		{"__schedule schedule io_schedule folio_wait_bit folio_wait_writeback __filemap_fdatawait_range file_write_and_wait_range", evidence.KernelFsync},
		{"__schedule schedule futex_wait_queue __futex_wait futex_wait do_futex __x64_sys_futex do_syscall_64", evidence.KernelFutex},
		{"__schedule schedule io_schedule folio_wait_bit_common filemap_read vfs_read ksys_read do_syscall_64", evidence.KernelDisk},
		{"__schedule schedule anon_pipe_write vfs_write ksys_write do_syscall_64", evidence.KernelPipe},
		{"__schedule schedule schedule_timeout sk_stream_wait_memory tcp_sendmsg_locked tcp_sendmsg sock_write_iter vfs_write ksys_write do_syscall_64", evidence.KernelSend},
		{"net_rx_action handle_softirqs do_softirq __local_bh_enable_ip tcp_sendmsg sock_write_iter vfs_write ksys_write do_syscall_64", evidence.KernelSoftirq},
		{"__schedule schedule ep_poll do_epoll_wait __x64_sys_epoll_wait do_syscall_64", evidence.KernelPoll},
		{"balance_dirty_pages balance_dirty_pages_ratelimited_flags generic_perform_write ext4_buffered_write_iter vfs_write", evidence.KernelThrottled},
		{"__x64_sys_getpid do_syscall_64 entry_SYSCALL_64_after_hwframe", evidence.KernelOther},
		{"__arm64_sys_fdatasync invoke_syscall el0_svc", evidence.KernelFsync},
		{"__migrate_folio.isra.0 migrate_pages __compact_zone compact_node sysctl_compaction_handler vfs_write ksys_write do_syscall_64", evidence.KernelCompaction}, // 6.18
		{"nobody_knows", ""},
		{"__schedule schedule jbd2_log_wait_commit jbd2_log_do_checkpoint __jbd2_log_wait_for_space add_transaction_credits start_this_handle", evidence.KernelDisk},
		{"__schedule schedule xlog_grant_head_wait xlog_grant_head_check xfs_log_reserve xfs_trans_alloc xfs_create", evidence.KernelDisk},
		{"__schedule schedule jbd2_log_wait_commit jbd2_complete_transaction ext4_sync_file vfs_fsync_range do_fsync", evidence.KernelFsync},
		{"__x64_sys_fsyncer", evidence.KernelOther},
	} {
		var set Set
		for f := range strings.FieldsSeq(c.stack) {
			set |= Of(f)
		}
		if got := set.Mechanism(); got != c.want {
			t.Errorf("%s: %q, want %q", c.stack, got, c.want)
		}
	}
	if len(rules) > alsoFirst {
		t.Errorf("%d rules, and room for %d", len(rules), alsoFirst)
	}
}

// A wait in the C library's own locks of a fork is part of that; no other function of a program is a rule's.
func TestOfProgram(t *testing.T) {
	wait := Of("futex_wait") | Of("do_futex")
	if got := (wait | OfProgram("__libc_fork")).Mechanism(); got != evidence.KernelFork {
		t.Errorf("a fork's lock: %q", got)
	}
	if got := (wait | OfProgram("vfs_fsync") | OfProgram("serve")).Mechanism(); got != evidence.KernelFutex {
		t.Errorf("another lock: %q", got)
	}
	if got := OfProgram("__libc_fork").Mechanism(); got != "" {
		t.Errorf("a fork that runs: %q", got)
	}
}
