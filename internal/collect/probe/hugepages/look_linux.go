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

// process is one that is looked at.
type process struct {
	pid     int
	large   int64
	pagemap *os.File
	maps    *os.File
	scans   bool   // the kernel has PAGEMAP_SCAN
	room    []byte // for a huge page
	regions [mostRegions]region
}

// look is what was seen of a process's huge pages.
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
	isZero      = 1 << 5     // PAGE_IS_PFNZERO: memory that was only read, all the host's in one page

	mostRegions = 512
	mostMaps    = 16 << 20  // bytes of /proc/PID/maps
	mostPages   = 4 << 20   // small pages a look goes over at most: 16 GiB of them
	mostLooked  = 16        // huge pages that are read
	mostTries   = 256       // places where one is looked for, without PAGEMAP_SCAN
	present     = 1 << 63   // of an entry of pagemap
	frame       = 1<<55 - 1 // likewise
)

func open(pid int) (*process, error) {
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
	err = p.ioctl(&scan{size: uint64(unsafe.Sizeof(scan{})), start: 0, end: uint64(pageSize), vec: address(&none), vecLen: 1, mask: isHuge, returned: isHuge})
	p.scans = err == nil
	p.room = make([]byte, p.large)
	return p, nil
}

func address(r *region) uint64 { return uint64(uintptr(unsafe.Pointer(r))) }

func (p *process) close() {
	_ = p.maps.Close()
	_ = p.pagemap.Close()
}

func (p *process) ioctl(s *scan) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(s)))
	if errno != 0 {
		return errno
	}
	return nil
}

// look finds huge pages and reads some; alive is false once the process has ended.
func (p *process) look() (l look, alive bool) {
	anonymous, alive := p.anonymous()
	if !alive {
		return l, false
	}
	var pages []uint64 // those to be read, chosen by chance
	seen := 0
	add := func(at uint64) {
		if seen++; len(pages) < mostLooked {
			pages = append(pages, at)
		} else if i := rand.IntN(seen); i < mostLooked {
			pages[i] = at
		}
	}
	if p.scans {
		p.scanned(anonymous, add)
		l.bytes = int64(seen) * p.large
	} else {
		of := p.tried(anonymous, add)
		l.bytes = int64(float64(seen)*of) * p.large
	}
	for _, at := range pages {
		if !p.still(at) {
			continue
		}
		// One without anything was mapped this moment, or is another by now: who takes a page writes.
		if n, ok := p.touched(at); ok && n > 0 {
			l.looked++
			l.touched += n
		}
	}
	return l, true
}

// anonymous are the mappings that may have huge pages of the process's own: private, readable,
// without a file, and large enough.
func (p *process) anonymous() (out []region, alive bool) {
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

// scanned asks the kernel which pages are huge.
func (p *process) scanned(in []region, add func(uint64)) {
	left := uint64(mostPages) * uint64(pageSize)
	for _, r := range in {
		for at := r.start; at < r.end && left > 0; {
			s := p.request(at, min(r.end, at+left))
			n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s)))
			if errno != 0 || s.walkEnd <= at {
				break // the mapping went away meanwhile
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

// tried looks at places by chance, of which a part is huge, as is told by their frames: without
// gaps, from one on that a huge page may begin with. Each that is found stands for so many.
func (p *process) tried(in []region, add func(uint64)) (each float64) {
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
			if _, err := p.pagemap.ReadAt(entries, int64(at)/pageSize*8); err == nil && p.together(entries) {
				add(at)
			}
			break
		}
	}
	return float64(places) / float64(tries)
}

// together says whether entries of pagemap are one huge page.
func (p *process) together(entries []byte) bool {
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

// still says whether a huge page is where one was seen: short-lived memory may be another by now,
// and to read what is not there would fault it in.
func (p *process) still(at uint64) bool {
	if !p.scans {
		entries := make([]byte, 8*p.large/pageSize)
		_, err := p.pagemap.ReadAt(entries, int64(at)/pageSize*8)
		return err == nil && p.together(entries)
	}
	s := p.request(at, at+uint64(p.large))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s)))
	return errno == 0 && n == 1 && p.regions[0].start == at && p.regions[0].end == at+uint64(p.large)
}

// request asks for huge pages of the process's own.
func (p *process) request(from, to uint64) scan {
	return scan{size: uint64(unsafe.Sizeof(scan{})), start: from, end: to, vec: address(&p.regions[0]), vecLen: mostRegions,
		mask: isHuge | isFile | isZero, inverted: isFile | isZero, returned: isHuge}
}

// touched counts the small pages of a huge one that hold anything.
func (p *process) touched(at uint64) (n int, ok bool) {
	local := []unix.Iovec{{Base: &p.room[0], Len: uint64(len(p.room))}}
	got, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p.room)}}, 0)
	if err != nil || got != len(p.room) {
		return 0, false
	}
	for page := int64(0); page < p.large; page += pageSize {
		if !zero(p.room[page : page+pageSize]) {
			n++
		}
	}
	return n, true
}

// zero says whether memory holds nothing.
func zero(b []byte) bool {
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
