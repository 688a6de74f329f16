package kernel

import (
	"sync"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// family is a process and, if it is the master of workers, these: their threads count as its own.
type family struct {
	lead   int
	master bool

	mu        sync.Mutex
	processes map[int]*symbol.Process // by PID
	of        map[int]int             // by thread: the PID of its process, 0 if it is none of the family's
}

func newFamily(lead int, master bool) *family {
	f := &family{lead: lead, master: master}
	f.refreshWorkers()
	return f
}

// refreshWorkers finds the workers that there are now, and forgets the others.
func (f *family) refreshWorkers() {
	all := []int{f.lead}
	if f.master {
		all = append(all, probe.Workers(f.lead)...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.processes
	f.processes, f.of = make(map[int]*symbol.Process, len(all)), make(map[int]int)
	for _, pid := range all {
		if f.processes[pid] = old[pid]; f.processes[pid] == nil {
			f.processes[pid] = symbol.SharedProcess(pid)
		}
	}
}

// hasProcess reports whether a process is of the family.
func (f *family) hasProcess(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.processes[pid] != nil
}

// symbolsOf returns the symbols of a process of the family.
func (f *family) symbolsOf(pid int) *symbol.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.processes[pid]
	if p == nil { // it was one when its stack was taken
		p = symbol.SharedProcess(pid)
		f.processes[pid] = p
	}
	return p
}

// processOf returns the process of a thread; 0: it is none of the family's, or has ended.
func (f *family) processOf(tid int) int {
	if !f.master {
		return f.lead
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, known := f.of[tid]
	if !known {
		if pid = probe.ProcessOf(tid); f.processes[pid] == nil {
			pid = 0
		}
		f.of[tid] = pid
	}
	return pid
}
