package hugepages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none if the kernel has no huge pages or there is no /proc.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 {
		return nil
	}
	if _, err := os.Stat(settingPath("enabled")); err != nil {
		return nil // the kernel has no huge pages
	}
	a := probe.Access{Probe: name, Where: fmt.Sprintf("huge pages of pid %d", t.PID)}
	if p, err := openProcess(t.PID); err == nil {
		p.close()
	} else {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		a.Lacks = append(a.Lacks, probe.Lack{What: "how much of its huge pages it uses", Why: errorWithoutPath(err), Do: fmt.Sprintf("sudo unstall %d", t.PID)})
	}
	a.Record = func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
		return recordProcess(ctx, t, plan, sink)
	}
	return []probe.Access{a}
}

// errorWithoutPath returns the text of an error without the file's name, which does not help users.
func errorWithoutPath(err error) string {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// settingPath returns the path of a file of the host's settings. If /sys is a container's, HOST_SYS names the host's.
func settingPath(file string) string {
	return filepath.Join(cmp.Or(os.Getenv("HOST_SYS"), "/sys"), "kernel/mm/transparent_hugepage", file)
}

// The first looks come soon, because recordings may be short. A look's share of one CPU is bounded, and smaller while nothing is found.
const (
	every  = time.Second
	share  = .002
	ofNone = .001
	soon   = 3 // number of early looks
)

func recordProcess(ctx context.Context, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	p, err := openProcess(t.PID)
	if err != nil {
		return nil // a lack already reports it, or the process has ended
	}
	defer p.close()
	out, err := sink.Create(capture.Meta{Name: "hugepages.txt", Probe: name, Origin: "/proc", About: t.Subject()})
	if err != nil {
		return fmt.Errorf("hugepages.txt: %w", err)
	}
	var b bytes.Buffer
	writeHead(&b, t.PID, p.large, plan.Passive)
	for n := 1; err == nil; n++ {
		began := time.Now()
		var l look
		var alive bool
		cost := costOf(func() { l, alive = p.inspectHugePages() })
		if alive {
			fmt.Fprintf(&b, "look %d %d %d %d\n", began.UnixNano(), l.bytes, l.looked, l.touched)
		}
		_, err = out.Write(b.Bytes())
		b.Reset()
		part := share
		if l.bytes == 0 && n >= soon {
			part = ofNone
		}
		if !alive || !probe.Wait(ctx, max(every, time.Duration(float64(cost)/part))) {
			break
		}
	}
	return errors.Join(err, out.Close())
}

// writeHead writes the constant data: page sizes and the cost of faults.
func writeHead(b *bytes.Buffer, pid int, large int64, passive bool) {
	fmt.Fprintf(b, "# huge pages of pid %d\n", pid)
	small := int64(os.Getpagesize())
	fmt.Fprintf(b, "page %d %d\n", small, large)
	if passive {
		return
	}
	for _, size := range []int64{small, large} {
		if f, ok := measureFaults(size, small, large); ok {
			fmt.Fprintf(b, "fault %d %d %d %d %d\n", size, f.median, f.least, f.most, f.times)
		}
	}
}

// hugeSize returns the size of a huge page of this host, in bytes.
func hugeSize() int64 {
	if b, err := os.ReadFile(settingPath("hpage_pmd_size")); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > int64(os.Getpagesize()) && n <= 1<<30 {
			return n
		}
	}
	return 2 << 20
}
