package discover

import (
	"os"
	"path"
	"slices"

	"github.com/unstall/unstall/probe/dotnet/ipc"
	"github.com/unstall/unstall/probe/hotspot/attach"
)

// kind is a runtime as its processes show it.
type kind struct {
	id string // what package runtime knows it by
	// traces are what its processes alone leave behind.
	traces   func(h *host, p *process, container string) (version, main string, ok bool)
	launcher string                            // the executable that runs its programs
	program  func(command []string) string     // what the launcher runs, "" unknown; nil: nothing tells
	library  string                            // what its processes have mapped
	version  func(root, library string) string // of the runtime, by where the library is
	// access finds out how a process can be asked; own: as whom we are, or as root.
	access func(h *host, f *Found, own bool)
}

// kinds are those that are recognised, the cheapest trace first.
var kinds = []kind{
	{
		id: "jvm",
		traces: func(h *host, p *process, _ string) (string, string, bool) {
			j, ok := h.hotspot(p)
			return j.version, j.main, ok
		},
		launcher: "java", library: "libjvm.so", version: releaseVersion,
		access: func(_ *host, f *Found, own bool) {
			if own {
				_, err := attach.Find(f.PID)
				f.Attach = err == nil
			}
		},
	},
	{
		id: "dotnet",
		traces: func(h *host, p *process, _ string) (version, _ string, ok bool) {
			if ok = h.diagnosticSocket(p); ok {
				if where, mapped := h.library(p, "libcoreclr.so"); mapped {
					version = coreVersion("", where)
				}
			}
			return version, "", ok
		},
		launcher: "dotnet", program: launchedByDotnet, library: "libcoreclr.so", version: coreVersion,
		access: func(_ *host, f *Found, own bool) {
			if own {
				_, err := ipc.Find(f.PID)
				f.Socket = err == nil
			}
		},
	},
	{
		id: "redis",
		traces: func(_ *host, p *process, _ string) (string, string, bool) {
			return "", "", isRedis(p.comm) || isRedis(path.Base(p.exe))
		},
	},
	{
		id: "go",
		traces: func(h *host, p *process, container string) (string, string, bool) {
			e, _ := h.executable(p, container)
			return e.goVersion, e.main, e.goVersion != ""
		},
		access: func(h *host, f *Found, _ bool) {
			tcp := slices.ContainsFunc(f.Listens, func(l Listener) bool { return l.Addr.IsValid() })
			f.Pprof = tcp && h.pprof(f.PID)
		},
	},
}

// ways finds out how a process can be asked.
func (h *host) ways(p *process, f *Found) {
	for _, k := range kinds {
		if k.id == f.Runtime && k.access != nil {
			k.access(h, f, p.uid == os.Geteuid() || os.Geteuid() == 0)
		}
	}
}
