package discover

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errGone says that the process does not exist or has ended.
var errGone = errors.New("no process has this id")

// host keeps data that many processes share during one look. It is not safe for concurrent use. It is short-lived, because its data
// grows old.
type host struct {
	known       []Recogniser
	booted      time.Time
	mounts      string // unstall's mount namespace
	users       map[int]string
	executables map[file]Executable
	programs    map[file]bool // whether a program has net/http/pprof
	sockets     map[string]map[uint64]socket
	left        map[string][]string // paths, by mount namespace and pattern
}

// file identifies a file.
type file struct {
	device, inode uint64
	changed       int64
}

func newHost(known []Recogniser) *host {
	h := &host{
		known:       known,
		users:       map[int]string{},
		executables: map[file]Executable{},
		programs:    map[file]bool{},
		sockets:     map[string]map[uint64]socket{},
		left:        map[string][]string{},
	}
	h.booted = bootTime()
	h.mounts, _ = os.Readlink("/proc/self/ns/mnt")
	return h
}

// bootTime is btime of /proc/stat, in whole seconds; zero unknown.
func bootTime() time.Time {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "btime "); ok {
			if s, err := strconv.ParseInt(value, 10, 64); err == nil {
				return time.Unix(s, 0)
			}
		}
	}
	return time.Time{}
}

// userName returns the name of a user, or the user's number if there is no name here.
func (h *host) userName(uid int) string {
	name, ok := h.users[uid]
	if !ok {
		name = strconv.Itoa(uid)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		h.users[uid] = name
	}
	return name
}

// listPIDs returns the PIDs of the running processes, lowest first.
func listPIDs() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1) // the kernel returns them in the order of PIDs
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, n := range names {
		if id, err := strconv.Atoi(n); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

func readStat(pid int) (stat, error) {
	f, err := os.Open(procPath(pid, "stat"))
	if err != nil {
		return stat{}, normalizeGone(err)
	}
	defer f.Close()
	s, err := parseStat(f)
	return s, normalizeGone(err)
}

func readStatus(pid int) (status, error) {
	f, err := os.Open(procPath(pid, "status"))
	if err != nil {
		return status{}, normalizeGone(err)
	}
	defer f.Close()
	s, err := parseStatus(f)
	return s, normalizeGone(err)
}

// normalizeGone returns errGone for each error by which /proc says that a process has ended, and any other error unchanged.
func normalizeGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return errGone
	}
	return err
}

// openRegular opens a path that another user may have created. It follows no link at the path's end, and opens only regular files,
// because opening others could block for ever.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}
