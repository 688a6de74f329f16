// Package symbol names the functions at addresses of a process and of the kernel. It names the kernel's by /proc/kallsyms, those of mapped
// files by their symbols (ELF .symtab, else .dynsym) or, for stripped Go programs, by the table of Go's runtime (.gopclntab), and code made
// at run time by /tmp/perf-PID.map, which a JVM's agent and .NET (DOTNET_PerfMapEnabled=1) write
// (tools/perf/Documentation/jit-interface.txt of the kernel's sources).
//
// The package's opinion: names are looked up while the process lives, because its files may disappear with it. A function without a name is
// given by its file and offset, which can still be named later. Addresses themselves are not given: the kernel's would show where it was
// loaded.
package symbol

import (
	"cmp"
	"slices"
)

// table is a compact list of functions in order of address, because a kernel has 100,000.
type table struct {
	starts []uint64
	ends   []uint64 // 0: up to the next
	names  []uint32 // where each begins in text
	text   []byte   // names, each ended by 0
}

func (t *table) addEntry(start, size uint64, name string) {
	end := uint64(0)
	if size > 0 {
		end = start + size
	}
	t.starts, t.ends, t.names = append(t.starts, start), append(t.ends, end), append(t.names, uint32(len(t.text)))
	t.text = append(append(t.text, name...), 0)
}

// sort puts functions in order of address; of those at one address the first stays first.
func (t *table) sort() {
	if slices.IsSorted(t.starts) {
		return
	}
	order := make([]int32, len(t.starts))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.starts[a], t.starts[b]) })
	s := &table{starts: make([]uint64, len(order)), ends: make([]uint64, len(order)), names: make([]uint32, len(order)), text: slices.Clip(t.text)}
	for i, o := range order {
		s.starts[i], s.ends[i], s.names[i] = t.starts[o], t.ends[o], t.names[o]
	}
	*t = *s
}

// functionAt returns the function an address lies in, "" if none is known.
func (t *table) functionAt(addr uint64) string {
	name, _ := t.functionAndDistance(addr)
	return name
}

// functionAndDistance returns the function an address lies in, and how many bytes after its start.
func (t *table) functionAndDistance(addr uint64) (string, uint64) {
	i, found := slices.BinarySearch(t.starts, addr)
	if !found {
		i--
	}
	for i > 0 && t.starts[i-1] == t.starts[i] {
		i--
	}
	if i < 0 {
		return "", 0
	}
	end := t.ends[i]
	for k := i; end == 0 && k < len(t.starts); k++ {
		if t.starts[k] > t.starts[i] {
			end = t.starts[k]
		}
	}
	if end == 0 || addr >= end {
		return "", 0
	}
	name := t.text[t.names[i]:]
	return string(name[:slices.Index(name, 0)]), addr - t.starts[i]
}
