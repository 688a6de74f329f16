package hugepages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// process is a process whose huge pages are read.
type process struct {
	pid     int
	large   int64
	pagemap *os.File
	maps    *os.File
	scans   bool   // the kernel has PAGEMAP_SCAN
	room    []byte // for a huge page
	regions [mostRegions]region
}

// look is the result of a look at a process's huge pages.
type look struct {
	bytes           int64
	looked, touched int
}

// region is a stretch of addresses with the same properties: struct page_region of <linux/fs.h>.
type region struct{ start, end, categories uint64 }

// scan is struct pm_scan_arg of <linux/fs.h>, Linux 6.7.
type scan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages, inverted, mask, anyOf, returned uint64
}

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)
	isHuge      = 1 << 6     // PAGE_IS_HUGE
	isFile      = 1 << 2     // PAGE_IS_FILE
	isZero      = 1 << 5     // PAGE_IS_PFNZERO: memory that was only read, which shares one page of the host

	mostRegions = 512
	mostMaps    = 16 << 20  // bytes of /proc/PID/maps
	mostPages   = 4 << 20   // most small pages of a look: 16 GiB of them
	mostLooked  = 16        // most huge pages that are read
	mostTries   = 256       // most places tried without PAGEMAP_SCAN
	present     = 1 << 63   // of an entry of pagemap
	frame       = 1<<55 - 1 // likewise
)

func openProcess(pid int) (*process, error) {
	p := &process{pid: pid, large: hugeSize()}
	var err error
	if p.maps, err = os.Open(fmt.Sprintf("/proc/%d/maps", pid)); err != nil {
		return nil, err
	}
	if p.pagemap, err = os.Open(fmt.Sprintf("/proc/%d/pagemap", pid)); err != nil {
		p.maps.Close()
		return nil, err
	}
	var none region
	err = p.ioctlScan(&scan{size: uint64(unsafe.Sizeof(scan{})), start: 0, end: uint64(pageSize), vec: regionAddress(&none), vecLen: 1, mask: isHuge, returned: isHuge})
	p.scans = err == nil
	p.room = make([]byte, p.large)
	return p, nil
}

func regionAddress(r *region) uint64 { return uint64(uintptr(unsafe.Pointer(r))) }

func (p *process) close() {
	_ = p.maps.Close()
	_ = p.pagemap.Close()
}

func (p *process) ioctlScan(s *scan) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(s)))
	if errno != 0 {
		return errno
	}
	return nil
}

// inspectHugePages finds huge pages and reads some; alive is false once the process has ended.
func (p *process) inspectHugePages() (l look, alive bool) {
	anonymous, alive := p.anonymousRegions()
	if !alive {
		return l, false
	}
	var pages []uint64 // the pages to read, chosen by chance
	seen := 0
	add := func(at uint64) {
		if seen++; len(pages) < mostLooked {
			pages = append(pages, at)
		} else if i := rand.IntN(seen); i < mostLooked {
			pages[i] = at
		}
	}
	if p.scans {
		p.scanRegions(anonymous, add)
		l.bytes = int64(seen) * p.large
	} else {
		of := p.sampleRegions(anonymous, add)
		l.bytes = int64(float64(seen)*of) * p.large
	}
	for _, at := range pages {
		if !p.isStillHuge(at) {
			continue
		}
		// A page without data was mapped this moment, or is another page by now: a program that gets a page writes to it.
		if n, ok := p.countTouched(at); ok && n > 0 {
			l.looked++
			l.touched += n
		}
	}
	return l, true
}

// anonymousRegions returns the mappings that may have huge pages of the process's own: private,
// readable, without a file, and large enough.
func (p *process) anonymousRegions() (out []region, alive bool) {
	if _, err := p.maps.Seek(0, 0); err != nil {
		return nil, false
	}
	var text bytes.Buffer
	n, err := text.ReadFrom(&bounded{p.maps, mostMaps})
	if n == 0 || err != nil {
		return nil, false
	}
	for line := range bytes.Lines(text.Bytes()) {
		f := bytes.Fields(line) // 7f12-7f34 rw-p 00000000 00:00 0 [heap]
		if len(f) < 5 || len(f[1]) < 4 || f[1][0] != 'r' || f[1][3] != 'p' || string(f[4]) != "0" {
			continue
		}
		low, high, _ := bytes.Cut(f[0], []byte("-"))
		from, e1 := strconv.ParseUint(string(low), 16, 64)
		to, e2 := strconv.ParseUint(string(high), 16, 64)
		size := uint64(p.large)
		from, to = (from+size-1)&^(size-1), to&^(size-1)
		if e1 == nil && e2 == nil && to > from {
			out = append(out, region{start: from, end: to})
		}
	}
	return out, true
}

// scanRegions asks the kernel which pages are huge, and calls add for each.
func (p *process) scanRegions(in []region, add func(uint64)) {
	left := uint64(mostPages) * uint64(pageSize)
	for _, r := range in {
		for at := r.start; at < r.end && left > 0; {
			s := p.scanRequest(at, min(r.end, at+left))
			n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s)))
			if errno != 0 || s.walkEnd <= at {
				break // the mapping has disappeared
			}
			for _, x := range p.regions[:min(int(n), mostRegions)] {
				for page := x.start; page+uint64(p.large) <= x.end; page += uint64(p.large) {
					add(page)
				}
			}
			left -= min(left, s.walkEnd-at)
			at = s.walkEnd
		}
	}
}

// sampleRegions looks at random places and calls add for those that are huge pages. It recognises them by their frames, which are consecutive
// from one that a huge page may begin with. Each found page stands for as many places as it returns.
func (p *process) sampleRegions(in []region, add func(uint64)) (each float64) {
	var places uint64
	for _, r := range in {
		places += (r.end - r.start) / uint64(p.large)
	}
	if places == 0 {
		return 0
	}
	tries := min(places, mostTries)
	entries := make([]byte, 8*p.large/pageSize)
	for range tries {
		n := rand.Uint64N(places)
		for _, r := range in {
			if here := (r.end - r.start) / uint64(p.large); n >= here {
				n -= here
				continue
			}
			at := r.start + n*uint64(p.large)
			if _, err := p.pagemap.ReadAt(entries, int64(at)/pageSize*8); err == nil && p.isHugePage(entries) {
				add(at)
			}
			break
		}
	}
	return float64(places) / float64(tries)
}

// isHugePage says whether entries of pagemap form one huge page.
func (p *process) isHugePage(entries []byte) bool {
	first := binary.NativeEndian.Uint64(entries)
	if first&present == 0 || first&frame == 0 || first&frame%uint64(p.large/pageSize) != 0 {
		return false
	}
	for i := 8; i < len(entries); i += 8 {
		if e := binary.NativeEndian.Uint64(entries[i:]); e&present == 0 || e&frame != first&frame+uint64(i/8) {
			return false
		}
	}
	return true
}

// isStillHuge says whether a huge page is still there. Short-lived memory may be other memory by now, and reading an absent page would fault it
// in.
func (p *process) isStillHuge(at uint64) bool {
	if !p.scans {
		entries := make([]byte, 8*p.large/pageSize)
		_, err := p.pagemap.ReadAt(entries, int64(at)/pageSize*8)
		return err == nil && p.isHugePage(entries)
	}
	s := p.scanRequest(at, at+uint64(p.large))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s)))
	return errno == 0 && n == 1 && p.regions[0].start == at && p.regions[0].end == at+uint64(p.large)
}

// scanRequest returns a request for huge pages of the process's own.
func (p *process) scanRequest(from, to uint64) scan {
	return scan{size: uint64(unsafe.Sizeof(scan{})), start: from, end: to, vec: regionAddress(&p.regions[0]), vecLen: mostRegions,
		mask: isHuge | isFile | isZero, inverted: isFile | isZero, returned: isHuge}
}

// countTouched counts the small pages of a huge one that hold any data.
func (p *process) countTouched(at uint64) (n int, ok bool) {
	local := []unix.Iovec{{Base: &p.room[0], Len: uint64(len(p.room))}}
	got, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p.room)}}, 0)
	if err != nil || got != len(p.room) {
		return 0, false
	}
	for page := int64(0); page < p.large; page += pageSize {
		if !isAllZero(p.room[page : page+pageSize]) {
			n++
		}
	}
	return n, true
}

// isAllZero says whether memory holds only zero bytes.
func isAllZero(b []byte) bool {
	for i := 0; i < len(b); i += 8 {
		if binary.NativeEndian.Uint64(b[i:]) != 0 {
			return false
		}
	}
	return true
}

// bounded reads no more than so many bytes.
type bounded struct {
	f    *os.File
	left int
}

var errLarge = errors.New("it has more mappings than unstall reads")

func (b *bounded) Read(to []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.f.Read(to[:min(len(to), b.left)])
	b.left -= n
	return n, err
}
