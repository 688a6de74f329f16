package threaddump

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/lab/jvmapp"
)

// waiting starts a thread for each way to wait, says so when all of them stand, and leaves
// them.
const waiting = `
import java.net.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class App {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final Semaphore permits = new Semaphore(0);
    static volatile boolean on = true;

    interface Action { void run() throws Exception; }

    static Thread start(String name, Action a) {
        Thread t = new Thread(() -> { try { a.run(); } catch (Exception e) { throw new RuntimeException(e); } }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static void hold(CountDownLatch held) throws Exception { synchronized (monitor) { lock.lock(); held.countDown(); Thread.sleep(3600_000); } }
    static void enter() { synchronized (monitor) { on = false; } }
    static void acquire() { lock.lock(); lock.unlock(); }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Socket mute = new Socket(server.getInetAddress(), server.getLocalPort());
        CountDownLatch held = new CountDownLatch(1);
        start("holder-1", () -> hold(held));
        held.await();
        Thread[] all = {
            start("enter-1", App::enter),
            start("acquire-1", App::acquire),
            start("permit-1", () -> permits.acquire()),
            start("future-1", () -> new CompletableFuture<String>().get()),
            start("queue-1", () -> new LinkedBlockingQueue<String>().take()),
        };
        start("socket-1", () -> mute.getInputStream().read());
        ExecutorService pool = Executors.newFixedThreadPool(1, r -> { Thread t = new Thread(r, "pool-1-thread-1"); t.setDaemon(true); return t; });
        pool.submit(() -> 1).get();
        for (Thread t : all)
            while (t.getState() == Thread.State.RUNNABLE || t.getState() == Thread.State.NEW) Thread.onSpinWait();
        Host.say("waiting");
    }
}
`

// TestLive reads what real JVMs print.
func TestLive(t *testing.T) {
	for _, major := range []int{11, 17, 25} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			a := jvmapp.Start(t, major, waiting, "-Xmx64m")
			a.Line(t)
			out, err := exec.CommandContext(t.Context(), filepath.Join(a.Home, "bin", "jcmd"), strconv.Itoa(a.PID), "Thread.print").Output()
			if err != nil {
				t.Fatal(err)
			}
			b, err := suite.Read(out)
			if err != nil {
				t.Fatal(err)
			}
			b.Align()
			if s := b.Subjects[0]; s.PID != a.PID || s.Instance == "" || s.Version == "" {
				t.Errorf("of %+v", s)
			}
			seen := make(map[string]threads.Sample)
			for _, l := range threads.Of(b, stacks).Samples(0) {
				seen[l.View.Pool] = l
			}
			for pool, want := range map[string]struct {
				state   evidence.Kind
				pattern string
				owner   string
			}{
				"holder":        {evidence.SleepWait, "Thread.sleep", "App.hold()"},
				"enter":         {evidence.LockWait, "synchronized", "App.enter()"},
				"acquire":       {evidence.LockWait, "ReentrantLock", "App.acquire()"},
				"permit":        {evidence.PoolWait, "Semaphore.acquire", ""},
				"future":        {evidence.TaskWait, "CompletableFuture.get", ""},
				"queue":         {evidence.Idle, "", ""},
				"pool-1-thread": {evidence.Idle, "", ""},
			} {
				v := seen[pool].View
				if v.State != want.state || v.Pattern != want.pattern || want.owner != "" && v.Owner != want.owner {
					t.Errorf("%s: %v %q in %s", pool, v.State, v.Pattern, v.Owner)
				}
			}
			// The thread may not have come as far as its read.
			if v := seen["socket"].View; v.State == evidence.NetWait && v.Owner == "" {
				t.Errorf("a socket's reader waits in no code: %+v", v)
			}
			x := &b.Intervals
			for _, i := range x.Select(evidence.LockWait, -1) {
				if x.Lane.At(i) == seen["enter"].Lane && x.Holder.At(i) == seen["holder"].Lane {
					return
				}
			}
			t.Error("nobody holds what others wait for")
		})
	}
}
