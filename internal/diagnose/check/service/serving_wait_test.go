package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Threads that serve requests and mostly wait in one call are told of where connections are not read; threads that run are not.
func TestWaitOfServing(t *testing.T) {
	of := func(frames string) threadstack.Stack {
		return threadstack.Stack{Frames: strings.Fields(frames + ` javax.servlet.http.HttpServlet.service org.apache.catalina.connector.CoyoteAdapter.service
			java.util.concurrent.ThreadPoolExecutor$Worker.run org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run java.lang.Thread.run`), ThreadInfo: evidence.ThreadInfo{Name: "http-nio-8080-exec"}}
	}
	call, lock, run := of("java.net.SocketInputStream.socketRead0 java.net.SocketInputStream.read shop.Board.exam"), of("sun.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire java.util.concurrent.locks.ReentrantLock.lock shop.Board.exam"), of("shop.Board.exam")
	for name, x := range map[string]struct {
		looks []threadstack.Stack
		says  string
	}{
		"calls":                 {[]threadstack.Stack{call, call, call, run}, "more threads or workers"},
		"calls and as many run": {[]threadstack.Stack{call, run}, ""},
		"nobody looked":         {nil, ""},
		"a lock":                {[]threadstack.Stack{lock, lock, run}, "more threads would wait, too"},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
		s := p.Subject(evidence.Subject{Runtime: "jvm"})
		for i, stack := range x.looks {
			p.Sample(evidence.Sample{Subject: s, Time: epoch + int64(i)*ms, Lane: evidence.LaneID(i + 1), Stack: stacktest.Intern(p, stack), Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
		}
		p.Close()
		w := waitOfServing(&check.Case{Bundle: b, Subject: s})
		switch {
		case (w != nil) != (x.says != ""):
			t.Errorf("%s: %+v", name, w)
		case w != nil:
			if fix := w.shortenFix(); !strings.Contains(fix.Text, x.says) || fix.Code != "Board.exam()" && fix.Code != "Board.exam" {
				t.Errorf("%s: %+v", name, fix)
			}
		}
	}
}
