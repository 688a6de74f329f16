package linux

import "path/filepath"

// networkSettings are those of a network namespace: their files say what holds where they are opened.
func networkSettings() (all []string) {
	for _, name := range []string{"core/somaxconn", "ipv4/tcp_max_syn_backlog", "ipv4/tcp_syncookies", "ipv4/tcp_abort_on_overflow"} {
		all = append(all, "/proc/sys/net/"+name)
	}
	return all
}

// hostSettings returns the files of the host with its settings and how it is built. They are read
// again, as settings may change meanwhile.
func hostSettings() (all []string) {
	for _, name := range []string{
		"kernel/osrelease", "kernel/numa_balancing", "kernel/task_delayacct",
		"vm/swappiness", "vm/dirty_ratio", "vm/dirty_background_ratio", "vm/dirty_bytes", "vm/min_free_kbytes", "vm/compaction_proactiveness",
		"vm/zone_reclaim_mode", "vm/overcommit_memory", "vm/nr_hugepages",
		"net/core/netdev_budget", "net/core/netdev_budget_usecs", "net/core/netdev_max_backlog",
	} {
		all = append(all, "/proc/sys/"+name)
	}
	const hugePages = "/sys/kernel/mm/transparent_hugepage/"
	for _, name := range []string{"enabled", "defrag", "shmem_enabled", "hpage_pmd_size", "khugepaged/defrag", "khugepaged/max_ptes_none"} {
		all = append(all, hugePages+name)
	}
	sizes, _ := filepath.Glob(hugePages + "hugepages-*kB/enabled") // its only error is of patterns
	return append(append(all, sizes...), "/sys/devices/system/node/online")
}
