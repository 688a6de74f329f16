package format

import (
	"slices"
	"strings"
)

// PartOfDisk says whether a name is that of a partition: a disk's name with a number behind it,
// such as sda1, nvme0n1p1.
func PartOfDisk(name string, disks []string) bool {
	disk := strings.TrimRight(name, "0123456789")
	if disk == name {
		return false
	}
	of, numbered := strings.CutSuffix(disk, "p")
	return numbered && slices.Contains(disks, of) || slices.Contains(disks, disk)
}

// MadeOfDisks says whether a disk is memory, a file or made of other disks, so that its requests are counted twice.
func MadeOfDisks(name string) bool {
	for _, kind := range []string{"dm-", "md", "loop", "ram", "zram", "drbd", "bcache"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && strings.Trim(rest, "0123456789_") == "" {
			return true
		}
	}
	return false
}
