// Package hugepages records the cost of a fault for a small page and for a huge one on this host, and how much of its huge pages a process
// uses. It switches nothing on. internal/collect/probe/linux records the settings that decide which memory gets huge pages.
//
// Its artifact is hugepages.txt, as internal/format/hugepages reads it. The cost of a fault is measured on unstall's own memory, a few ms in
// all, before the process is examined. No kernel counts how much of a huge page is used: the bit "accessed" is for the whole page. So some
// pages are read, and the small pages in each that hold anything but zeros are counted. Their content is not stored. Chance chooses the pages
// among all that are mapped huge at that moment.
//
// Sources: https://docs.kernel.org/admin-guide/mm/transhuge.html,
// https://docs.kernel.org/admin-guide/mm/pagemap.html (PAGEMAP_SCAN, Linux 6.7; before that the
// frames of /proc/PID/pagemap, which only root sees), process_vm_readv(2).
//
// The package's opinion: only pages that are mapped huge are read, because reading an absent page would fault it in.
package hugepages

import "github.com/unstall/unstall/internal/collect/probe"

const name = "hugepages"

// Probe records the huge pages of a process of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "huge pages of the process: what faults for them cost here, how much of them it uses",
	Find:  findAccess,
}
