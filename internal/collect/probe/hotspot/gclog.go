package hotspot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

const (
	collections = "gc*=info,gc+age=debug"
	safepoints  = "safepoint=info"
	logOptions  = "filecount=1,filesize=20M"
	decorators  = "time,uptime,level,tags"

	follow = 250 * time.Millisecond
)

// gcLog is a log that a JVM writes for this recording.
type gcLog struct {
	r      *recording
	file   string   // path as the JVM knows it
	before []output // outputs of the JVM before
	left   *probe.SwitchedOn

	stop func() // stops following the log
	once sync.Once
}

// switchOn has the JVM log its collections into a file of this recording, unless it has a log that is recorded. It returns nil if there is no
// need, or if there is no way, which it reports.
func (r *recording) switchOn(ctx context.Context) (*gcLog, error) {
	all, err := r.askOutputs(ctx)
	switch {
	case errors.Is(err, attach.ErrRefused): // JDK 8
		r.sink.Lack(probe.Lack{What: "GC log", Why: "a JVM before JDK 9 cannot start a GC log while it runs; a GC log that it already writes is recorded",
			Do: "start it with -Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime"})
		return nil, nil
	case err != nil:
		return nil, err
	}
	if all, err = r.endAbandonedLogs(ctx, all); err != nil {
		return nil, err
	}
	what := collections + "," + safepoints
	if own, ok := recordedLog(r.vm, all); ok {
		d := own.parseDetail()
		if !d.everything {
			r.sink.Lack(probe.Lack{What: "details of each collection", Why: "the JVM already writes a GC log, which unstall records unchanged, and it lacks gc*", Do: "start it with " + ownLog})
		}
		if d.safepoints {
			return nil, nil
		}
		what = safepoints
	}
	l := &gcLog{r: r, file: ownFile("gc", r.vm, "log"), before: all}
	l.left = r.noteLeft(leftLog, l.file)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing) // the log may be on even without waiting for it
	defer cancel()
	said, err := r.vm.Text(ctx, fmt.Sprintf("VM.log output=%s output_options=%s what=%s decorators=%s", l.file, logOptions, what, decorators), 4<<10)
	if said = strings.TrimSpace(said); err == nil && said != "" {
		l.left.Forget()
		r.sink.Lack(probe.Lack{What: "GC log", Why: "the JVM could not start one: " + firstLine(said), Do: "start it with " + ownLog})
		return nil, nil
	}
	following, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	l.stop = func() { stop(); <-done }
	go func() {
		defer close(done)
		l.copyLog(following)
	}()
	return l, err
}

// endAbandonedLogs ends the logs of killed recorders, and returns the remaining outputs.
func (r *recording) endAbandonedLogs(ctx context.Context, all []output) ([]output, error) {
	left := false
	for _, o := range all {
		if f := o.filePath(); f != "" && isAbandoned(f, r.vm) {
			left = true
			if _, err := r.vm.Text(ctx, "VM.log output="+f+" what=all=off", 4<<10); err != nil {
				return nil, err
			}
		}
	}
	removeAbandoned(r.vm)
	if !left {
		return all, nil
	}
	r.warnOnce("an earlier recording was killed and left its GC log on: it is off now")
	return r.askOutputs(ctx)
}

// switchOff ends the log, and warns if the JVM does not log as before.
func (l *gcLog) switchOff(ctx context.Context) {
	l.once.Do(func() {
		r := l.r
		command := "VM.log output=" + l.file + " what=all=off"
		_, err := r.vm.Text(ctx, command, 4<<10)
		ended := errors.Is(err, attach.ErrGone)
		l.stop()
		if err != nil && !ended {
			r.warnOnce("the GC log could not be switched off (%s): its size is limited, and the next start of unstall switches it off; or run: jcmd %d %s", explainLack(err).Why, r.pid, command)
			return // the next recording recognises the file
		}
		removeOwn(r.vm, l.file)
		l.left.Forget()
		if ended {
			return
		}
		after, err := r.askOutputs(ctx)
		if err == nil && !slices.Equal(withoutOwn(l.before), withoutOwn(after)) {
			r.warnOnce("the JVM's logging differs from before the recording: it was %q, it is %q", l.before, after)
		}
	})
}

// withoutOwn leaves out the outputs of recordings, because another recording may run at the same time.
func withoutOwn(all []output) []output {
	return slices.DeleteFunc(slices.Clone(all), func(o output) bool { return strings.HasPrefix(o.filePath(), jvmTmp+probe.OwnFile) })
}

// copyLog copies the log as it grows, and once more after its end.
func (l *gcLog) copyLog(ctx context.Context) {
	w := &lines{also: &l.r.stops, create: func() (io.WriteCloser, error) {
		return l.r.sink.Create(capture.Meta{Name: "gc.log", Probe: name, Origin: "VM.log", About: l.r.about, Lines: true, Continues: true})
	}}
	var f *os.File
	defer func() {
		if f != nil {
			_ = f.Close()
		}
		if err := w.close(); err != nil {
			l.r.warnOnce("gc.log: %v", err)
		}
	}()
	for last := false; ; {
		if f == nil {
			f = l.openFile()
		}
		if f != nil {
			if _, err := io.Copy(w, f); err != nil {
				l.r.warnOnce("gc.log: %v", err)
				return
			}
			if next := l.openNext(f); next != nil {
				_, _ = io.Copy(w, f) // the rest from before the switch
				_ = f.Close()
				f = next
				continue
			}
		}
		if last {
			return
		}
		last = !probe.Wait(ctx, follow)
	}
}

func (l *gcLog) openFile() *os.File {
	f, err := openOwn(l.r.vm, l.file)
	if err != nil {
		return nil
	}
	return f
}

// openNext opens the log's next file if the JVM has begun one, else returns nil.
func (l *gcLog) openNext(f *os.File) *os.File {
	was, err := f.Stat()
	if err != nil {
		return nil
	}
	is, err := os.Lstat(l.r.vm.Path(l.file))
	if err != nil || os.SameFile(was, is) {
		return nil
	}
	return l.openFile()
}

// lines writes whole lines.
type lines struct {
	create  func() (io.WriteCloser, error)
	to      io.WriteCloser
	also    io.Writer
	pending []byte
}

func (l *lines) Write(p []byte) (int, error) {
	i := bytes.LastIndexByte(p, '\n') + 1
	if i == 0 && len(l.pending) < mostLine {
		l.pending = append(l.pending, p...)
		return len(p), nil
	}
	if err := l.write(append(l.pending, p[:i]...)); err != nil {
		return 0, err
	}
	l.pending = append(l.pending[:0], p[i:]...)
	return len(p), nil
}

func (l *lines) write(b []byte) (err error) {
	if l.to == nil {
		if l.to, err = l.create(); err != nil {
			return err
		}
	}
	if l.also != nil {
		_, _ = l.also.Write(b)
	}
	_, err = l.to.Write(b)
	return err
}

func (l *lines) close() (err error) {
	if len(l.pending) > 0 {
		err = l.write(l.pending)
	}
	if l.to != nil {
		err = errors.Join(err, l.to.Close())
	}
	return err
}
