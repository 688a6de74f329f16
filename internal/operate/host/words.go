package host

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
)

// Healthy returns the text for a host without findings. Its figures bound what the checks could miss.
func (r *Report) Healthy() string {
	text := "nothing found"
	if r.CPUs > 0 && r.CPU.Busy != nil {
		text += fmt.Sprintf(": the CPUs were busy %s of the time", units.Percent(*r.CPU.Busy/float64(r.CPUs)))
	}
	var waits []string
	for _, x := range []struct {
		share *float64
		what  string
	}{{r.Pressure.CPU, "a CPU"}, {r.Pressure.Memory, "memory"}, {r.Pressure.IO, "disks"}} {
		if x.share != nil {
			waits = append(waits, fmt.Sprintf("%s %s", x.what, units.Percent(*x.share)))
		}
	}
	switch {
	case len(waits) > 0:
		text += ", and tasks waited for " + strings.Join(waits, ", for ") + " of it"
	default:
		text += "; this kernel does not measure waits for memory or disks"
	}
	return text + ". To see whether a service's requests are slow: unstall PID"
}

// CPULine describes the use of the CPUs in words.
func (r *Report) CPULine() (all []string) {
	if r.CPU.Busy == nil || r.CPUs == 0 {
		return []string{"not recorded"}
	}
	all = append(all, units.Percent(*r.CPU.Busy/float64(r.CPUs))+" busy")
	for _, x := range []struct {
		name string
		of   *float64
	}{{"programs", r.CPU.User}, {"kernel", r.CPU.System}, {"interrupts", r.CPU.Softirq}, {"idle waiting for a disk", r.CPU.Iowait}, {"taken by the hypervisor", r.CPU.Steal}} {
		if x.of != nil {
			all = append(all, x.name+" "+units.Percent(*x.of/float64(r.CPUs)))
		}
	}
	return all
}

// WaitLine describes the shares of the time in which tasks waited in words.
func (r *Report) WaitLine() (all []string) {
	for _, x := range []struct {
		name string
		of   *float64
	}{{"for a CPU", r.Pressure.CPU}, {"for memory", r.Pressure.Memory}, {"for disks", r.Pressure.IO}} {
		if x.of != nil {
			all = append(all, x.name+" "+units.Percent(*x.of)+" of the time")
		}
	}
	if len(all) == 0 {
		return []string{"not measured by this kernel"}
	}
	if v := r.Memory.AvailableBytes; v != nil {
		all = append(all, units.Size(*v)+" of memory available")
	}
	return all
}
