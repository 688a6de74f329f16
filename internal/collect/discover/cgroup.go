package discover

import (
	"bufio"
	"io"
	"strings"
)

// idLength is the length of a container's ID: 64 hexadecimal digits with docker, containerd, cri-o and podman.
const idLength = 64

// parseCgroup returns the ID of the container that /proc/PID/cgroup names, "" if none. Lines are "0::/path" or
// "4:memory:/path". The last part of the path with an ID counts:
//
//	/docker/ID                                         docker, cgroupfs
//	/system.slice/docker-ID.scope                      docker, systemd
//	/kubepods.slice/…/cri-containerd-ID.scope          containerd
//	/kubepods/burstable/podUID/ID                      containerd, cgroupfs
//	/kubepods.slice/…/crio-ID.scope                    cri-o
//	/machine.slice/libpod-ID.scope/container           podman
//
// The monitors of podman and cri-o ("libpod-conmon-ID.scope") have the ID of their container in their name, but do not run in
// it.
func parseCgroup(r io.Reader) (string, error) {
	lines := bufio.NewScanner(io.LimitReader(r, procLimit))
	found := ""
	for lines.Scan() {
		_, path, ok := strings.Cut(lines.Text(), ":")
		if ok {
			_, path, ok = strings.Cut(path, ":")
		}
		if !ok || found != "" {
			continue
		}
		for part := range strings.SplitSeq(path, "/") {
			if id := containerID(part); id != "" {
				found = id
			}
		}
	}
	return found, lines.Err()
}

func containerID(part string) string {
	id := strings.TrimSuffix(part, ".scope")
	if i := strings.LastIndexByte(id, '-'); i >= 0 {
		if strings.HasSuffix(id[:i], "conmon") {
			return ""
		}
		id = id[i+1:]
	}
	// containerd without systemd: kubepods-….slice:cri-containerd:ID
	id = id[strings.LastIndexByte(id, ':')+1:]
	if len(id) != idLength {
		return ""
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return id
}
