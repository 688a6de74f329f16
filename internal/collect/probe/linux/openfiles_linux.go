package linux

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/unstall/unstall/internal/base/redact"
)

// openFiles says which files and sockets threads wait for: a file's path, a socket's side. For a client of the service it writes only
// that it is one; for a server that the service calls, the address; for a pipe, the program at its other end.
type openFiles struct {
	process *process
	told    map[int]string // the last written text of each descriptor
	sockets *sockets
	ends    *ends
	mapped  *mapped
}

func newOpenFiles(p *process) openFiles {
	return openFiles{process: p, told: make(map[int]string), sockets: newSockets(p), ends: newEnds(p), mapped: &mapped{process: p, told: make(map[uint64]bool)}}
}

// writeArgument appends what the first argument of a system call means, if it may be a descriptor and is not written yet:
// "fd 7 /var/lib/journal". The format knows which calls take one.
func (d *openFiles) writeArgument(out, call []byte) []byte {
	fields := bytes.Fields(call)
	if len(fields) < 2 || fields[0][0] < '0' || fields[0][0] > '9' {
		return out
	}
	if string(fields[0]) == msyncNumber {
		return d.writeSynced(out, fields[1])
	}
	fd, err := strconv.ParseUint(strings.TrimPrefix(string(fields[1]), "0x"), 16, 31)
	if err != nil || fd > mostDescriptors {
		return out
	}
	target, err := os.Readlink(fmt.Sprintf("%s/fd/%d", d.process.dir, fd))
	if err != nil {
		return out
	}
	if target = d.describeTarget(target, int(fd)); d.told[int(fd)] == target {
		return out
	}
	d.told[int(fd)] = target
	return fmt.Appendf(out, "fd %d %s\n", fd, target)
}

// writeSynced appends which file is mapped at the address of a call of msync: "word 0x7f00 /var/lib/seats".
func (d *openFiles) writeSynced(out, text []byte) []byte {
	at, ok := parseAddress(text)
	if !ok || d.mapped.told[at] || len(d.mapped.told) > mostAddresses {
		return out
	}
	path := d.mapped.pathAt(at)
	if path == "" {
		return out
	}
	d.mapped.told[at] = true
	return fmt.Appendf(out, "word %s %s\n", text, path)
}

var msyncNumber = strconv.Itoa(syscall.SYS_MSYNC)

// mostDescriptors is above the numbers of a process's descriptors; numbers above it are addresses.
const mostDescriptors = 1 << 20

// describeTarget describes in words where a descriptor leads.
func (d *openFiles) describeTarget(target string, fd int) string {
	if inode, ok := strings.CutPrefix(target, "socket:["); ok {
		inode = strings.TrimSuffix(inode, "]")
		is := d.sockets.describeSocket(inode)
		if peer := d.sockets.peers[inode]; is == "unix" && peer != 0 {
			is = strings.TrimSpace(is + " " + d.ends.socketHolder(peer))
		}
		return is
	}
	if kind, ok := strings.CutPrefix(target, "anon_inode:"); ok {
		return strings.Trim(kind, "[]")
	}
	if strings.HasPrefix(target, "pipe:[") {
		return strings.TrimSpace("pipe " + d.ends.pipeHolder(target, fd))
	}
	return withoutIDs(target)
}

// withoutIDs returns a path without parts that may identify a person.
func withoutIDs(path string) string {
	segments := strings.Split(oneLine(path), "/")
	for i, s := range segments {
		if redact.Segment([]byte(s)) {
			segments[i] = redact.ID
		}
	}
	return strings.Join(segments, "/")
}

// oneLine returns a name with any content as one line of text.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}
