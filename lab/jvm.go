package lab

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/hsperf"
	"github.com/unstall/unstall/lab/build"
)

// JVM is the runtime of services in Java on an embedded Tomcat 9. A variant's Program
// names a [Launch]; its Flags are added to those of the launch.
type JVM struct {
	Sources fs.FS
	Main    string // class
	Release int    // the Java release of the sources
	Launch  map[string]Launch
}

// Launch is a way to start a JVM.
type Launch struct {
	JDK   int // major version
	Flags []string
}

func (j JVM) buildPrograms(ctx context.Context, l *Lab, say func(string)) (*programs, error) {
	homes := make(map[int]string)
	var versions []string
	for _, v := range l.Variants {
		major := j.Launch[v.Program].JDK
		if homes[major] != "" {
			continue
		}
		home, err := build.FindJDK(ctx, major, true, say)
		if err != nil {
			return nil, err
		}
		homes[major] = home
		versions = append(versions, strconv.Itoa(major))
	}
	tomcat, err := build.FindTomcat(ctx, true, say)
	if err != nil {
		return nil, err
	}
	jars, err := build.Jars(filepath.Join(tomcat, "lib"))
	if err != nil {
		return nil, err
	}
	javac, err := build.FindJavac(ctx, true, say)
	if err != nil {
		return nil, err
	}
	classes, err := build.Java(ctx, javac, l.Name, j.Sources, jars, j.Release, say)
	if err != nil {
		return nil, err
	}
	classpath := strings.Join(append([]string{classes}, jars...), string(filepath.ListSeparator))
	return &programs{toolchain: "JDK " + strings.Join(versions, ", "), start: func(v Variant, accessLog string) (string, []string) {
		launch := j.Launch[v.Program]
		log := "-Xlog:gc*:file=" + strings.TrimSuffix(accessLog, "access.log") + "gc.log:time,uptime,level,tags"
		args := slices.Concat(launch.Flags, v.Flags, []string{log, "-cp", classpath, j.Main})
		return filepath.Join(homes[launch.JDK], "bin", "java"), args
	}}, nil
}

// readState reads /proc and the JVM's counters for jstat: the number of young collections, and the
// time of all collections.
func (JVM) readState(one *Service) (st state, err error) {
	p, err := statOf(one.PID)
	st.Time = time.Now().UnixNano()
	st.UserSeconds, st.SysSeconds, st.MinorFaults, st.RSS, st.threads = p.user, p.system, p.minorFaults, p.resident, p.threads
	if err != nil {
		return st, err
	}
	names, err := filepath.Glob(filepath.Join(os.TempDir(), "hsperfdata_*", strconv.Itoa(one.PID)))
	if err != nil || len(names) == 0 {
		return st, err // the counters may be switched off
	}
	f, err := os.Open(names[0])
	if err != nil {
		return st, err
	}
	defer f.Close()
	counters, err := hsperf.Parse(f)
	if err != nil {
		return st, fmt.Errorf("%s: %w", names[0], err)
	}
	young, _ := counters.Value("sun.gc.collector.0.invocations")
	st.GCCycles = uint64(young)
	for i := range 3 { // young, old, and G1's pauses of a concurrent cycle
		if t, ok := counters.Seconds(fmt.Sprintf("sun.gc.collector.%d.time", i)); ok {
			st.stopped, st.counted = st.stopped+t, true
		}
	}
	return st, nil
}

func (JVM) figuresBetween(a, b state) map[string]float64 {
	m := a.processFigures(b)
	if a.counted && b.counted {
		m["gc_cycles_per_s"] = float64(b.GCCycles-a.GCCycles) / a.secondsUntil(b)
		m["stopped_ms_per_s"] = 1e3 * (b.stopped - a.stopped) / a.secondsUntil(b)
	}
	return m
}

// Names of the figures of a JVM: those of its young collections while a diagnosis
// records, by the names in predictions.
const (
	YoungCollections = "young collections"          // a minute
	YoungPause       = "mean pause"                 // ms
	YoungStopped     = "share of time paused by GC" // 1
)

// captureFigures returns the figures of the time with requests.
func (JVM) captureFigures(b *evidence.Bundle, about evidence.SubjectID, _ [3]state) map[string]float64 {
	beside := metrics.Beside{Window: requestWindow(b), Source: -1}
	if b.Requests.Len() > 0 {
		beside.Clock = b.Requests.Clock.At(0)
	}
	g := metrics.JVMCollector(b, about, metrics.Scope{Beside: &beside})
	if g == nil {
		return nil
	}
	young := g.Pauses.Of(evidence.PauseYoung, evidence.PauseMixed)
	if len(young) == 0 {
		return nil
	}
	return map[string]float64{
		YoungCollections: 60 * g.PerSecond(young),
		YoungPause:       1e3 * young.Seconds() / float64(len(young)),
		YoungStopped:     g.ShareOf(young),
	}
}

// requestWindow returns the time from the first intended request to the last.
func requestWindow(b *evidence.Bundle) (w metrics.Window) {
	for i := range b.Requests.Len() {
		at := cmp.Or(b.Requests.Intended.At(i), b.Requests.Start.At(i))
		if w.From == 0 || at < w.From {
			w.From = at
		}
		w.Until = max(w.Until, at)
	}
	return w
}
