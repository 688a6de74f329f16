package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	small = 4 << 10
	huge  = 2 << 20
	chunk = 256 * huge // of addresses at a time

	misses = 4 // in a row, after which the free ones count as out of reach

	hugePage   = 14 // MADV_HUGEPAGE
	noHugePage = 15 // MADV_NOHUGEPAGE
	free       = 8  // MADV_FREE
)

// pieces are the huge pages that were taken apart.
type pieces struct {
	count int // of them
	most  int // bytes that it may hold
	left  []byte
	pipe  [2]int
	slots int // that are left in the pipe
	stuck int // free huge pages that cannot be taken: kept for emergencies, or for devices
}

func keepFragmented(most float64, every time.Duration, ended <-chan struct{}) error {
	total, err := readMeminfo("MemTotal:")
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the kernel counts faults by thread
	p := &pieces{most: int(most * float64(total))}
	began := time.Now()
	if err := p.reserveHugePages(); err != nil {
		return err
	}
	if err := p.pinBlocks(ended); err != nil {
		return err
	}
	if err := p.takeFree(ended); err != nil {
		return err
	}
	announceReady(p.count, time.Since(began))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for again := time.Now(); ; {
		select {
		case <-ended:
			return nil
		case <-tick.C:
		}
		if time.Since(again) >= time.Second { // while huge pages were switched off, none could be taken
			again, p.stuck = time.Now(), 0
		}
		if err := p.takeFree(ended); err != nil {
			return err
		}
	}
}

// Memory that stays free in pieces for others, and for this program's pinned pages.
const (
	room = 6 << 30
	own  = 256 << 20
)

// reserveHugePages takes huge pages without touching them, as much as it may hold, because a
// virtual machine is slow when it touches memory for the first time. They are surplus pages of hugetlbfs
// (https://docs.kernel.org/admin-guide/mm/hugetlbpage.html), which the kernel frees when this
// process ends, however it ends.
func (p *pieces) reserveHugePages() error {
	const setting = "/proc/sys/vm/nr_overcommit_hugepages"
	free, err := freeHugePages()
	if err != nil {
		return err
	}
	available, err := readMeminfo("MemAvailable:")
	if err != nil {
		return err
	}
	n := min((p.most-own)/huge, (available-room)/huge, free-free/8)
	if n <= 0 {
		return nil
	}
	was, err := os.ReadFile(setting)
	if err != nil {
		return nil // a kernel without hugetlbfs: all is taken apart
	}
	if err := os.WriteFile(setting, []byte(strconv.Itoa(n)), 0); err != nil {
		return nil // it needs root
	}
	defer os.WriteFile(setting, was, 0)
	if _, err := syscall.Mmap(-1, 0, n*huge, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_HUGETLB); err != nil {
		return nil // others took them first
	}
	p.most -= n * huge
	return nil
}

// pinBlocks fills most of the free memory with small pages, pins one page in each block of the size of a huge page, and gives back the
// others: no compaction can then free such a block. Without compaction itself it takes seconds, where splitHugePage takes minutes: on a
// host whose memory is full of files, each huge page costs that 20 ms. Where a page lies is read from pagemap (proc_pid_pagemap(5)).
func (p *pieces) pinBlocks(ended <-chan struct{}) error {
	const spare = 512 << 20 // stays free meanwhile
	free, err := readMeminfo("MemFree:")
	if err != nil {
		return err
	}
	places, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil // it needs root: all is taken apart
	}
	defer places.Close()
	size := (free - spare) &^ (small - 1)
	if size <= 0 {
		return nil
	}
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	defer func() { _ = syscall.Munmap(m) }()
	if err := syscall.Madvise(m, noHugePage); err != nil {
		return fmt.Errorf("madvise: %w", err)
	}
	const stretch = 64 << 20 // between two looks at what is left
	touched := 0
	for touched < size {
		select {
		case <-ended:
			return nil
		default:
		}
		for end := min(touched+stretch, size); touched < end; touched += small {
			m[touched] = 1
		}
		if left, err := readMeminfo("MemFree:"); err != nil || left < spare {
			break // others took some of it
		}
	}
	entries := make([]byte, touched/small*8)
	if n, err := places.ReadAt(entries, int64(uintptr(unsafe.Pointer(&m[0]))/small*8)); err != nil {
		return fmt.Errorf("/proc/self/pagemap: %w after %d bytes", err, n)
	}
	pinned := make(map[uint64]bool)
	for i := 0; i < len(entries); i += 8 {
		const present, place = 1 << 63, 1<<55 - 1
		entry := binary.NativeEndian.Uint64(entries[i:])
		block := (entry & place) / (huge / small)
		if entry&present == 0 || entry&place == 0 || pinned[block] {
			continue // a place of 0: the kernel hides them
		}
		pinned[block] = true
		at := i / 8 * small
		if err := p.pinPage(m[at : at+small]); err != nil {
			return err
		}
	}
	p.count += len(pinned)
	return nil
}

// takeFree takes the huge pages that are free.
func (p *pieces) takeFree(ended <-chan struct{}) error {
	for {
		n, err := freeHugePages()
		if n <= p.stuck {
			p.stuck = min(p.stuck, n)
			return err
		}
		missed := 0
		for i := p.stuck; i < n; i++ {
			select {
			case <-ended:
				return nil
			default:
			}
			if (p.count+1)*small+huge > p.most {
				return errors.New("it holds as much as it may")
			}
			got, err := p.splitHugePage()
			if err != nil {
				return err
			}
			if got {
				missed = 0
			} else if missed++; missed == misses {
				p.stuck, err = freeHugePages()
				return err
			}
		}
	}
}

// splitHugePage takes a huge page apart; got is false if none was free.
func (p *pieces) splitHugePage() (got bool, err error) {
	if len(p.left) < huge {
		m, err := syscall.Mmap(-1, 0, chunk+huge, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
		if err != nil {
			return false, fmt.Errorf("mmap: %w", err)
		}
		pad := int(-uintptr(unsafe.Pointer(&m[0])) & (huge - 1))
		p.left = m[pad : pad+chunk]
		if err := syscall.Madvise(p.left, hugePage); err != nil {
			return false, fmt.Errorf("madvise: %w: are transparent huge pages switched on?", err)
		}
	}
	page := p.left[:huge]
	const looks = 16
	page[0], page[huge-small] = 1, 1 // splitting would give a page of zeros back
	before := threadFaults()
	for i := 1; i <= looks; i++ {
		page[i*small] = 1
	}
	if threadFaults()-before > looks/2 { // it got small pages: the place is tried again
		return false, syscall.Madvise(page, syscall.MADV_DONTNEED)
	}
	p.left = p.left[huge:]
	rest := page[:huge-small]
	// Freeing a part lazily splits the huge page at once; giving it back does not
	// (madvise_free_huge_pmd, __split_huge_pmd in mm/huge_memory.c).
	if err := syscall.Madvise(rest, free); err != nil {
		return false, fmt.Errorf("madvise: %w", err)
	}
	if err := syscall.Madvise(rest, syscall.MADV_DONTNEED); err != nil {
		return false, fmt.Errorf("madvise: %w", err)
	}
	p.count++
	return true, p.pinPage(page[huge-small:])
}

// pinPage keeps a page where it is: pages in a pipe cannot be moved.
func (p *pieces) pinPage(page []byte) error {
	const slots = 256
	if p.slots == 0 {
		if err := syscall.Pipe2(p.pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
			return fmt.Errorf("pipe: %w", err)
		}
		p.slots = 16
		if n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(p.pipe[1]), syscall.F_SETPIPE_SZ, slots*small); errno == 0 {
			p.slots = int(n) / small
		}
	}
	v := syscall.Iovec{Base: &page[0]}
	v.SetLen(1)
	if _, _, errno := syscall.Syscall6(syscall.SYS_VMSPLICE, uintptr(p.pipe[1]), uintptr(unsafe.Pointer(&v)), 1, 0, 0, 0); errno != 0 {
		return fmt.Errorf("vmsplice: %w", errno)
	}
	p.slots--
	return nil
}

// threadFaults returns the minor faults of this thread so far.
func threadFaults() int64 {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	_ = syscall.Getrusage(thread, &u) // it cannot fail
	return u.Minflt
}

// freeHugePages returns how many huge pages are free: proc_buddyinfo(5), a column for each order
// from 0 on.
func freeHugePages() (n int, err error) {
	b, err := os.ReadFile("/proc/buddyinfo")
	if err != nil {
		return 0, err
	}
	const order = 9 // of a huge page
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.Fields(line) // Node 0, zone Normal 1 2 3 …
		if len(f) < 4 || f[3] == "DMA" {
			continue
		}
		for i, s := range f[4:] {
			if v, err := strconv.Atoi(s); err == nil && i >= order {
				n += v << (i - order)
			}
		}
	}
	return n, nil
}

// readMeminfo returns a figure of /proc/meminfo, bytes.
func readMeminfo(name string) (int, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			kib, err := strconv.Atoi(f[1])
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc/meminfo has no " + name)
}
