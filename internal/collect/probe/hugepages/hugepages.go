// Package hugepages records what a fault for a small page and for a huge one costs on this host, and
// how much of its huge pages a process uses. It switches nothing on. (The settings that decide who
// gets them are in what internal/collect/probe/linux records.)
//
// Its artifact is hugepages.txt, as internal/format/hugepages reads it. What a fault costs is measured on
// memory of unstall's own, a few ms in all, before the process is looked at. How much of a huge
// page is used is not counted by any kernel: its bit "accessed" is that of the whole page. So some
// pages are read, and in each the small pages that hold anything but zeros are counted; nothing
// of them is stored. Pages are chosen by chance out of all that are mapped huge at that moment.
//
// Sources: https://docs.kernel.org/admin-guide/mm/transhuge.html,
// https://docs.kernel.org/admin-guide/mm/pagemap.html (PAGEMAP_SCAN, Linux 6.7; before that the
// frames of /proc/PID/pagemap, which only root sees), process_vm_readv(2).
//
// The package's opinion: only what is mapped huge is read, since reading what is not there would
// fault it in.
package hugepages

import "github.com/unstall/unstall/internal/collect/probe"

const name = "hugepages"

// Probe records the huge pages of a process of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "huge pages of the process: what faults for them cost here, how much of them it uses",
	Find:  findAccess,
}
