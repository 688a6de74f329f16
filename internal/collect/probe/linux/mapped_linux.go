package linux

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// mapped finds the file at an address, because msync(2) gets an address and no descriptor.
type mapped struct {
	process *process
	files   []mapping
	next    time.Time
	told    map[uint64]bool // addresses whose file was written
}

// mapping is a file in a process's memory.
type mapping struct {
	from, to uint64
	path     string
}

// mapsEvery is the least time between readings of a process's mappings, which may be thousands.
const mapsEvery = 5 * time.Second

func (m *mapped) pathAt(address uint64) string {
	if len(m.files) == 0 || time.Now().After(m.next) && m.findPath(address) == "" {
		m.next = time.Now().Add(mapsEvery)
		m.readMaps()
	}
	return m.findPath(address)
}

func (m *mapped) findPath(address uint64) string {
	for _, f := range m.files {
		if f.from <= address && address < f.to {
			return f.path
		}
	}
	return ""
}

// readMaps reads proc_pid_maps(5): "from-to mode offset device inode path", and keeps the mappings
// of files.
func (m *mapped) readMaps() {
	m.files = m.files[:0]
	b, err := os.ReadFile(m.process.dir + "/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(b) {
		at := bytes.IndexByte(line, '/')
		from, rest, ok := bytes.Cut(line, []byte("-"))
		to, _, ok2 := bytes.Cut(rest, []byte(" "))
		if at < 0 || !ok || !ok2 {
			continue
		}
		x := mapping{path: withoutIDs(string(line[at:]))}
		if x.from, err = strconv.ParseUint(string(from), 16, 64); err != nil {
			continue
		}
		if x.to, err = strconv.ParseUint(string(to), 16, 64); err == nil {
			m.files = append(m.files, x)
		}
	}
}
