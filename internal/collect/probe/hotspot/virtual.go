package hotspot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// Releases whose JVM can be asked for virtual threads while it works. From JDK 25 on the JVM walks the stacks of threads that may be
// unmounted at the same
// time, and reads freed data: 25.0.3 ended with SIGSEGV after 3 to 20 dumps, as text or as JSON.
// https://bugs.openjdk.org/browse/JDK-8357650 (since when), JDK-8364343 (one way it fails)
const (
	dumpsVirtual = 21
	dumpsNoMore  = 25
)

// virtuals is the state of dumping virtual threads.
type virtuals struct {
	took    []time.Duration
	next    time.Time
	refused bool
	unseen  string // why dumps do not show often enough what they wait for, "" they do
	lack    func() // reports that, if no flight recording shows it; nil: nothing to report
	writer  int    // number of the thread that writes dumps, 0 not known yet, -1 unknown
}

// virtualShare is like costShare, for a dump of virtual threads. Such a dump stops one virtual thread at a time, and one thread writes
// it, the attach listener. So its cost is CPU time and no stop.
const virtualShare = 50

// dumpVirtualThreads dumps all threads, including virtual ones, if a dump is due. It goes into a file in the JVM's own /tmp, because
// the JVM dumps virtual
// threads only that way.
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jcmd.html (Thread.dump_to_file)
func (r *recording) dumpVirtualThreads(ctx context.Context, v *virtuals) error {
	if v.refused || time.Now().Before(v.next) {
		return nil
	}
	if r.release < dumpsVirtual || r.release >= dumpsNoMore {
		v.refused, v.unseen = true, "what waiting virtual threads wait for is in no thread dump"
		v.lack = func() { r.sink.Lack(lackVirtual(r.release)) }
		return nil
	}
	used := v.writerCPU(r.pid)
	file, began := ownFile("threads", r.vm, "json"), time.Now()
	defer removeOwn(r.vm, file)
	said, err := r.vm.Text(ctx, "Thread.dump_to_file -format=json "+file, 4<<10)
	took := time.Since(began)
	if after := v.writerCPU(r.pid); used > 0 && after > used {
		took = min(took, after-used) // on a busy host most of the time is waiting for a CPU
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, attach.ErrRefused):
		v.refused, v.unseen = true, "the JVM dumps no virtual threads"
		return nil
	case err != nil:
		return err
	}
	f, err := openOwn(r.vm, file)
	if err != nil {
		v.refused, v.unseen = true, "virtual threads could not be dumped: "+firstLine(said)
		v.lack = func() { r.warnOnce("%s", v.unseen) }
		return nil
	}
	defer f.Close()
	if err := r.storeVirtualDump(f); err != nil {
		return err
	}
	if v.took = append(v.took[max(0, len(v.took)-2):], took); len(v.took) == 1 {
		v.took[0] = min(took, soonest/virtualShare) // the first time, the JVM loads the code that writes it
		took = 0
	}
	cost := slices.Min(v.took)
	v.next = time.Now().Add(virtualShare * cost)
	if apart := virtualShare * cost; apart >= seldom {
		v.unseen = fmt.Sprintf("a dump of the virtual threads takes %v, so unstall takes one only about every %v", took.Round(10*time.Millisecond), apart.Round(time.Second))
		v.lack = func() { r.warnOnce("%s", v.unseen) }
	}
	return nil
}

// writerCPU returns the CPU time of the thread that writes dumps, 0 if it is unknown.
func (v *virtuals) writerCPU(pid int) time.Duration {
	if v.writer == 0 {
		v.writer = threadOf(pid, "Attach Listener")
	}
	return onCPU(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, v.writer)) // 0 without such a thread
}

// threadOf returns the number of a process's thread with a name, -1 if it has none.
func threadOf(pid int, name string) int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.TrimSpace(string(text)) == name {
			if n, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
				return n
			}
		}
	}
	return -1
}

// lackVirtual says why a JVM is not asked for its virtual threads. Those on a CPU are in Thread.print (JDK 24 on); no safe dump has
// those that wait.
func lackVirtual(release int) probe.Lack {
	l := probe.Lack{What: "what waiting virtual threads wait for", Why: "only JVMs of JDK 21 to 24 are asked to dump them (Thread.dump_to_file)"}
	if release >= dumpsNoMore {
		l.Why = fmt.Sprintf("dumping virtual threads (Thread.dump_to_file) can crash a JVM of JDK %d (JDK-8364343), so it is not done", release)
	}
	l.Do = "run the service on JDK 21, and record it there"
	return l
}

// storeVirtualDump copies a dump of virtual threads, which may be long.
func (r *recording) storeVirtualDump(f *os.File) error {
	w := &lazy{r: r, meta: capture.Meta{Name: r.artifactName("virtual", "json"), Series: "virtual", Probe: name, Origin: "Thread.dump_to_file", About: r.about, Lines: true}}
	_, err := io.Copy(w, f)
	if w.to == nil {
		r.returnName("virtual")
	}
	return errors.Join(err, w.Close())
}
