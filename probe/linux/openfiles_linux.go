package linux

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/redact"
)

// openFiles says what files and sockets threads wait for are: a file's path, a socket's
// side. Of who asks the service nothing is told but that it does; of whom the service asks,
// the address.
type openFiles struct {
	process *process
	told    map[int]string    // what was written of each
	sockets map[string]string // by inode, as in the tables of /proc/PID/net
	asked   time.Time         // when these were read
}

func newOpenFiles(p *process) openFiles {
	return openFiles{process: p, told: make(map[int]string), sockets: make(map[string]string)}
}

// Tables of sockets may be long: they are read when a socket is not known, not more often
// than this, and not further than that.
const (
	socketsEvery = time.Second
	mostSockets  = 1 << 14 // of one table
)

// call writes what the first argument of a system call stands for, if it may be a descriptor
// and that was not written yet: "fd 7 /var/lib/journal". The format says which calls take one.
func (d *openFiles) call(out, call []byte) []byte {
	fields := bytes.Fields(call)
	if len(fields) < 2 || fields[0][0] < '0' || fields[0][0] > '9' {
		return out
	}
	fd, err := strconv.ParseUint(strings.TrimPrefix(string(fields[1]), "0x"), 16, 31)
	if err != nil || fd > mostDescriptors {
		return out
	}
	target, err := os.Readlink(fmt.Sprintf("%s/fd/%d", d.process.dir, fd))
	if err != nil {
		return out
	}
	if target = d.words(target); d.told[int(fd)] == target {
		return out
	}
	d.told[int(fd)] = target
	return fmt.Appendf(out, "fd %d %s\n", fd, target)
}

// mostDescriptors is above all numbers that a process's files have: what is above are addresses.
const mostDescriptors = 1 << 20

// words is what a descriptor leads to.
func (d *openFiles) words(target string) string {
	if inode, ok := strings.CutPrefix(target, "socket:["); ok {
		return d.socket(strings.TrimSuffix(inode, "]"))
	}
	if kind, ok := strings.CutPrefix(target, "anon_inode:"); ok {
		return strings.Trim(kind, "[]")
	}
	if strings.HasPrefix(target, "pipe:[") {
		return "pipe"
	}
	segments := strings.Split(oneLine(target), "/")
	for i, s := range segments {
		if redact.Segment([]byte(s)) {
			segments[i] = redact.ID
		}
	}
	return strings.Join(segments, "/")
}

func (d *openFiles) socket(inode string) string {
	if of, ok := d.sockets[inode]; ok {
		return of
	}
	if time.Since(d.asked) > socketsEvery {
		d.asked = time.Now()
		d.tables()
	}
	if of, ok := d.sockets[inode]; ok {
		return of
	}
	return "socket"
}

// tables reads who is at the other end of the sockets of the process's network: one whose own
// port is listened at was accepted there.
func (d *openFiles) tables() {
	clear(d.sockets)
	for _, file := range []string{"tcp", "tcp6"} {
		listens := make(map[string]bool)
		d.lines(file, func(f []string) {
			local, remote := f[1], f[2]
			_, port, _ := strings.Cut(local, ":")
			switch inode := f[9]; {
			case f[3] == "0A": // TCP_LISTEN; these come first
				listens[port] = true
				d.sockets[inode] = "listener"
			case listens[port]:
				d.sockets[inode] = "client"
			default:
				d.sockets[inode] = "peer"
				if addr, err := discover.ParseAddr(remote); err == nil {
					d.sockets[inode] += " " + addr.String()
				}
			}
		})
	}
	d.lines("udp", func(f []string) { d.sockets[f[9]] = "udp" })
	d.lines("udp6", func(f []string) { d.sockets[f[9]] = "udp" })
	accepts := make(map[string]bool)
	d.lines("unix", func(f []string) {
		path := ""
		if len(f) > 7 {
			path = f[7]
		}
		switch {
		case f[3] == "00010000": // __SO_ACCEPTCON
			accepts[path] = true
			d.sockets[f[6]] = "listener"
		case accepts[path] && path != "":
			d.sockets[f[6]] = "client"
		default:
			d.sockets[f[6]] = "unix"
		}
	})
}

func (d *openFiles) lines(file string, each func(fields []string)) {
	f, err := os.Open(d.process.dir + "/net/" + file)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan() && n < mostSockets; n++ {
		if fields := strings.Fields(lines.Text()); n > 0 && (len(fields) >= 10 || file == "unix" && len(fields) >= 7) {
			each(fields)
		}
	}
}

// oneLine is a name that may hold anything as one line of text.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}
