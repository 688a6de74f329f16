package linux_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/sysstat"
)

// One report of a host tells of a disk at its limit, or of CPUs busy with interrupts.
func TestHostAlone(t *testing.T) {
	const disks = "Device            r/s     w/s     rkB/s     wkB/s   r_await w_await aqu-sz  %util\n"
	const cpus = "03:50:09     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
	const each = "03:50:10       0    5.00    0.00   10.00    0.00    0.00   60.00    0.00    0.00    0.00   25.00\n03:50:10       1    5.00    0.00   10.00    0.00    0.00   60.00    0.00    0.00    0.00   25.00\n"
	const banner = "Linux 6.1.0-18-amd64 (web1) \t11/23/2026 \t_x86_64_\t(2 CPU)\n\n"
	for name, x := range map[string]struct {
		text  string
		cause check.Check
		words string // "": not supported
	}{
		"a disk at its limit": {disks + "sdb   10.00  700.00   400.00  70000.00    1.00   9.00   6.40  98.00\n", linux.DiskBusy, "sdb"},
		"the worse of two":    {disks + "sda   300.00  0.00   4000.00  0.00    12.00   0.00   3.60  99.00\nsdb   10.00  700.00   400.00  70000.00    1.00   9.00   6.40  98.00\n", linux.DiskBusy, "sdb"},
		"quick at its limit":  {disks + "nvme0n1 90000.00 700.00 400000.00 70000.00 0.30 0.20 27.00 100.00\n", linux.DiskBusy, ""},
		"slow and idle":       {disks + "sda   2.00  1.00   40.00  10.00    12.00   9.00   0.04  3.00\n", linux.DiskBusy, ""},
		"busy since boot":     {banner + disks + "sdb   10.00  700.00   400.00  70000.00    1.00   9.00   6.40  98.00\n", linux.DiskBusy, "sdb"},
		"less since boot":     {banner + disks + "sdb   10.00  700.00   400.00  70000.00    1.00   9.00   6.40  85.00\n", linux.DiskBusy, ""},
		"softirq":             {cpus + "03:50:10     all    5.00    0.00   20.00    0.00    0.00   60.00    0.00    0.00    0.00   15.00\n" + each, linux.Softirq, "60 %"},
		"softirq of a banner": {banner + cpus + "03:50:10     all    5.00    0.00   20.00    0.00    0.00   60.00    0.00    0.00    0.00   15.00\n", linux.Softirq, "60 %"},
		"CPUs are free":       {cpus + "03:50:10     all    5.00    0.00   10.00    0.00    0.00   40.00    0.00    0.00    0.00   45.00\n" + each, linux.Softirq, ""},
		"little softirq":      {cpus + "03:50:10     all    75.00    0.00   10.00    0.00    0.00   10.00    0.00    0.00    0.00   5.00\n" + each, linux.Softirq, ""},
	} {
		b := evidence.NewBundle()
		a := &format.Artifact{Name: name, Size: int64(len(x.text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(x.text)), nil }}
		if err := format.Read(context.Background(), []format.Format{sysstat.Format}, a, b); err != nil {
			t.Fatal(err)
		}
		b.Unify()
		b.Align()
		v, ok := x.cause.JudgeHost(&check.Case{Bundle: b})
		if ok != (x.words != "") || ok && (v.State != check.Supported || !strings.Contains(v.Title, x.words) || len(v.Fix) == 0 || !(v.Weight > 0)) {
			t.Errorf("%s: %v %s %q", name, ok, v.State, v.Title)
		}
	}
}
