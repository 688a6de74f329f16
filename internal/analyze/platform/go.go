package platform

import (
	"go/version"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/collect/discover"
)

// GoTrace records an execution trace of a Go process.
const GoTrace = "curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'"

// Go is the Go runtime (https://go.dev/doc).
var Go = &Runtime{
	ID:            "go",
	Title:         "Go",
	Lane:          "goroutine",
	Collecting:    []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.gcStart", "runtime.gcMarkDone"},
	Serves:        gostack.Serves,
	States:        Evidence{"an execution trace", GoTrace},
	Requests:      "an access log or an execution trace",
	Settings:      "GOGC, GOMEMLIMIT and similar settings",
	Collector:     "concurrent mark-sweep",
	Watchables:    metrics.WatchablesOfGo,
	ReadCollector: metrics.GoCollector,
	Models:        []*model.Model{goheap.Model},
	AtLeast:       goAtLeast,
	HugePages:     goHugePages,
	FewerCPUs:     "GOMAXPROCS=%.0f",
	FewerCPUsBy:   "Go 1.25 and later does this by default",

	KeepsConnections: "net/http: MaxIdleConnsPerHost is 2 unless set, and each response must be read to its end",
	Built:            discover.ReleaseOfBuild,
	Recognise: &discover.Recogniser{
		Built: func(e discover.Executable) (discover.Seen, bool) {
			return discover.Seen{Version: e.GoVersion, Main: e.Main}, e.GoVersion != ""
		},
		Way: func(p discover.Process, listens []discover.Listener) string {
			if tcp := slices.ContainsFunc(listens, func(l discover.Listener) bool { return l.Addr.IsValid() }); tcp && p.ServesPprof() {
				return "pprof"
			}
			return ""
		},
	},
}

// goHugePages: https://go.dev/doc/gc-guide#Linux_transparent_huge_pages.
func goHugePages(h HugePages) string {
	switch h.Version {
	case "go1.21", "go1.21.0", "go1.21.1", "go1.21.2", "go1.21.3":
		return "Go 1.21.0 to 1.21.3 ask for huge pages for their heap; 1.21.4 and later do not"
	}
	return ""
}

// goAtLeast is the newest of the versions that the evidence about a subject shows it to have
// at least: each format knows only when its own form came up.
func goAtLeast(b *evidence.Bundle, subject evidence.SubjectID) (release string, ok bool) {
	for _, f := range b.Facts {
		if f.Subject == subject && f.Key == evidence.FactVersionAtLeast && version.Compare(f.Value, release) > 0 {
			release = f.Value
		}
	}
	return release, release != ""
}
