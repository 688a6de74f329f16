package hugepages

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/hugepages"
)

const (
	pages = 24 // huge ones
	used  = 3  // small pages of each
)

func TestMain(m *testing.M) {
	probetest.Main(m, map[string]func([]string){"sparse": func([]string) { sparse() }})
}

// sparse touches a few small pages of each of its huge pages, and says whether it got any.
func sparse() {
	const size = 2 << 20
	m, err := unix.Mmap(-1, 0, (pages+1)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	pad := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & (size - 1))
	m = m[pad : pad+pages*size]
	said := "ready"
	if unix.Madvise(m, unix.MADV_HUGEPAGE) != nil {
		said = "none"
	}
	before := minorFaults()
	for at := 0; at < len(m); at += size {
		for i := range used {
			m[at+i*(100<<10)] = 1
		}
	}
	if n := minorFaults() - before; n > pages {
		said = "none" // memory in pieces, too, has none to give
	}
	fmt.Println(said)
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(m)
}

func TestSparse(t *testing.T) {
	probetest.HugePages(t, false)
	child := probetest.Play(t, "sparse", nil)
	if child.Said != "ready" {
		t.Skip("this host gives no huge pages now")
	}
	for _, scans := range []bool{true, false} {
		p, err := openProcess(child.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		if scans && !p.scans || !scans && os.Geteuid() != 0 {
			continue // an older kernel, or one that shows frames to root alone
		}
		p.scans = scans
		l, alive := p.inspectHugePages()
		if want := int64(pages) * p.large; !alive || scans && l.bytes < want || l.looked == 0 {
			t.Fatalf("scans %v: %+v, alive %v; want %d bytes or more", scans, l, alive, want)
		}
		if mean := float64(l.touched) / float64(l.looked); scans && (mean < used || mean > used+8) { // the runtime of Go may have some huge pages, too
			t.Errorf("%.1f small pages of each are used, want %d", mean, used)
		}
	}
}

func TestRecord(t *testing.T) {
	probetest.HugePages(t, false)
	child := probetest.Play(t, "sparse", nil)
	x := discover.Target{PID: child.Process.Pid}
	if len(findAccess(t.Context(), x)) == 0 {
		t.Skip("this kernel has no transparent huge pages")
	}
	r := probetest.Begin(t, probetest.One(t, findAccess, x))
	r.Wait(t, "hugepages.txt", func(b []byte) bool { return bytes.Contains(b, []byte("\nlook ")) })
	_ = child.Process.Kill()
	_ = child.Wait()
	if err := r.Ended(); err != nil {
		t.Fatal(err)
	}
	suite := formattest.Suite{Format: hugepages.Format}
	b := suite.MustRead(t, r.Kept[0].Bytes())
	if f, ok := b.Fact(-1, evidence.FactSmallFault); !ok || f.Number < 10 {
		t.Errorf("%+v %v: what a fault costs is not told", f, ok)
	}
}

// Nothing is switched on, nor touched, of who is only to be read.
func TestPassive(t *testing.T) {
	var b bytes.Buffer
	writeHead(&b, os.Getpid(), hugeSize(), true)
	if bytes.Contains(b.Bytes(), []byte("fault ")) {
		t.Errorf("%s", b.Bytes())
	}
}

func TestGone(t *testing.T) {
	probetest.HugePages(t, false)
	child := probetest.Play(t, "sparse", nil)
	p, err := openProcess(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	_ = child.Process.Kill()
	_ = child.Wait()
	if l, alive := p.inspectHugePages(); alive {
		t.Errorf("%+v of a process that has ended", l)
	}
	if a := findAccess(t.Context(), discover.Target{PID: child.Process.Pid}); len(a) != 0 {
		t.Errorf("found %+v", a)
	}
}
