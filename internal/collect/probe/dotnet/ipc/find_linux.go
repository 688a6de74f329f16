package ipc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Find looks for the socket of a process in its TMPDIR or in /tmp, as the process sees them, also in a container. The name has the
// process's PID in its own namespace and its start time, so that the socket of a killed process is not taken for it:
// https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md#naming-and-location-conventions
// taken for it: https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md#naming-and-location-conventions
func Find(pid int) (*Client, error) {
	inner, started, err := readIdentity(pid)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, deniedError(pid, "the process")
	case err != nil:
		return nil, newProblem(pid, "", "run unstall without arguments to list what runs here", ErrGone)
	}
	name := fmt.Sprintf("dotnet-diagnostic-%d-%d-socket", inner, started)
	env, envErr := readEnvironment(pid)
	refused := ""
	var others []string // sockets of other processes with this PID
	for _, dir := range socketDirs(pid, env) {
		path := filepath.Join(dir, name)
		fi, err := os.Lstat(path)
		switch {
		case err == nil && fi.Mode()&fs.ModeSocket != 0:
			return &Client{pid: pid, path: path}, nil
		case errors.Is(err, fs.ErrPermission):
			refused = dir
		}
		named, _ := filepath.Glob(filepath.Join(escapeGlob(dir), fmt.Sprintf("dotnet-diagnostic-%d-*-socket", inner)))
		others = append(others, named...)
	}
	for _, path := range others {
		if c := (&Client{pid: pid, path: path}); c.isListening() {
			return c, nil
		}
	}
	switch setting := disablingSetting(env); {
	case setting != "":
		return nil, newProblem(pid, setting+" in its environment", "restart it without this setting", ErrDisabled)
	case refused != "":
		return nil, deniedError(pid, refused)
	case envErr != nil && ownerName(pid) != "" && os.Geteuid() != 0:
		return nil, deniedError(pid, "/tmp has none, and its TMPDIR")
	case len(others) > 0:
		return nil, newProblem(pid, "the only one there was left by a killed process with the same id", restart, ErrNone)
	}
	return nil, newProblem(pid, "it runs a version before .NET Core 3.0, its diagnostics are disabled, or its TMPDIR was emptied", restart, ErrNone)
}

const restart = "restart it with DOTNET_EnableDiagnostics=1"

// isListening says whether the process itself listens on the socket, although the socket's name gives another start time. That happens
// to a runtime in a PID namespace of its own that still sees the host's /proc (unshare --pid --fork): it reads the start time of the
// host's process with its PID.
func (c *Client) isListening() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := c.connect(ctx)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// readIdentity reads a process's PID in its own PID namespace, and its start time in ticks after boot: field 22 of its stat file.
func readIdentity(pid int) (inner int, started uint64, err error) {
	fields, err := readStat(pid)
	if err != nil {
		return 0, 0, err
	}
	if started, err = strconv.ParseUint(fields[22-3], 10, 64); err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return 0, 0, err
	}
	inner = pid
	for line := range strings.Lines(string(text)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(ids); len(f) > 0 {
				inner, err = strconv.Atoi(f[len(f)-1])
			}
		}
	}
	return inner, started, err
}

// readStat returns the fields after the name in a process's stat file, the state first. The error
// is ErrGone if the process has ended.
func readStat(pid int) ([]string, error) {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 22 || fields[0] == "Z" || fields[0] == "X" {
		return nil, ErrGone
	}
	return fields, nil
}

func hasEnded(pid int) bool {
	_, err := readStat(pid)
	return err != nil && !errors.Is(err, fs.ErrPermission)
}

func isStopped(pid int) bool {
	f, err := readStat(pid)
	return err == nil && (f[0] == "T" || f[0] == "t")
}

// ownerName returns the user a process belongs to, "" if that is this user.
func ownerName(pid int) string {
	fi, err := os.Stat(procPath(pid, "."))
	if err != nil {
		return ""
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || int(s.Uid) == os.Geteuid() {
		return ""
	}
	id := strconv.Itoa(int(s.Uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// readEnvironment returns only those variables of a process that say where and whether it listens.
func readEnvironment(pid int) (map[string]string, error) {
	text, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for v := range strings.SplitSeq(string(text), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		if name == "TMPDIR" || strings.Contains(name, "_EnableDiagnostics") {
			env[name] = value
		}
	}
	return env, nil
}

// disablingSetting returns the setting that switched the server off, "" if none did:
// https://learn.microsoft.com/dotnet/core/runtime-config/debugging-profiling
func disablingSetting(env map[string]string) string {
	for _, name := range []string{"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics", "DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC"} {
		if v, ok := env[name]; ok && strings.Trim(v, "0") == "" && v != "" {
			return name + "=" + v
		}
	}
	return ""
}

// socketDirs returns the directories where the socket may be, as seen from here.
func socketDirs(pid int, env map[string]string) []string {
	where := []string{"/tmp"}
	if t := env["TMPDIR"]; filepath.IsAbs(t) && filepath.Clean(t) != "/tmp" {
		where = []string{t, "/tmp"}
	}
	root := procPath(pid, "root")
	ours, err := os.Readlink("/proc/self/ns/mnt")
	theirs, err2 := os.Readlink(procPath(pid, "ns/mnt"))
	if top, e := os.Readlink(root); err2 != nil || err == nil && ours == theirs && e == nil && top == "/" {
		root = "" // shorter, and readable by any user
	}
	for i, dir := range where {
		where[i] = root + dir
	}
	return where
}

// escapeGlob turns a directory's name into a pattern that matches only that name.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// longest is the longest name of a socket, in bytes: sun_path of unix(7), with the zero at its end.
const longest = 107

// shortenPath returns a name of a socket that is short enough to connect to, and a function to call after connecting.
func shortenPath(path string) (string, func(), error) {
	if len(path) <= longest {
		return path, func() {}, nil
	}
	const oPath = 0x200000 // O_PATH
	dir, err := os.OpenFile(filepath.Dir(path), oPath|syscall.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

// verifyPeer returns an error unless the process itself listens on the socket: SO_PEERCRED of unix(7) is the process that called listen.
// A PID of 0 is accepted; it means a process without a PID in this namespace.
func (c *Client) verifyPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var e error
	if err := raw.Control(func(fd uintptr) {
		peer, e = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if e == nil && peer.Pid != 0 && int(peer.Pid) != c.pid {
		return newProblem(c.pid, fmt.Sprintf("process %d listens on %s instead", peer.Pid, c.path), "remove that file, and restart the process", ErrNone)
	}
	return nil
}
