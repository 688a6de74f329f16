package hotspot

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attachtest"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/jvmapp"
)

// restless has virtual threads that are mounted and unmounted all the time. Each waits for a lock, and now and then sleeps while it holds the lock.
const restless = `
import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

public class App {
	static final ReentrantLock gate = new ReentrantLock();
	public static void main(String[] args) throws Exception {
		ExecutorService all = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null); // compiled for Java 11
		for (int i = 0; i < 60; i++) {
			all.execute(App::visit);
		}
		Host.say("restless");
		while (Host.next() != null) {
			Host.say("alive");
		}
	}
	static void visit() {
		for (ThreadLocalRandom random = ThreadLocalRandom.current();;) {
			gate.lock();
			try {
				if (random.nextInt(20) == 0) pause(1);
			} finally {
				gate.unlock();
			}
			pause(random.nextInt(6));
		}
	}
	static void pause(int ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { } }
}`

// TestCrowdFindsVirtualThreads finds them also if none has work during the dump.
func TestCrowdFindsVirtualThreads(t *testing.T) {
	for dump, want := range map[string]bool{
		`"Read-Poller" #21 [22467] daemon prio=5 os_prio=0 cpu=93.77ms`:           true,
		`"VirtualThread-unparker" #30 daemon prio=5`:                              true,
		`"ForkJoinPool-1-worker-1" #19 [22466] daemon prio=5 os_prio=0`:           false,
		`"http-nio-8080-Poller" #21 daemon prio=5 os_prio=0 cpu=93.77ms elapsed=`: false,
	} {
		var c crowd
		if c.Write([]byte(dump)); c.virtual != want {
			t.Errorf("%s: virtual threads %v, want %v", dump, c.virtual, want)
		}
	}
}

// TestVirtual records a JVM whose virtual threads wait. JDK 25 would crash if asked, so a flight recording is made instead, unless the
// user forbids it.
func TestVirtual(t *testing.T) {
	for _, test := range []struct {
		release  int
		noFlight bool
	}{{21, false}, {25, false}, {25, true}} {
		t.Run(fmt.Sprint(test.release, test.noFlight), func(t *testing.T) {
			a := jvmapp.Start(t, test.release, restless, "-Xmx64m")
			a.Line(t)
			to := probetest.Record(t, live(t, a), probe.Plan{For: 5 * time.Second, NoFlight: test.noFlight})
			a.Send(t, "well?")
			a.Line(t)
			safe := test.release < dumpsNoMore
			flies := !safe && !test.noFlight
			said := strings.Contains(strings.Join(to.Warnings, "\n"), "a flight recording (JFR) of waits of 10 ms and more is on")
			if said != flies || len(to.Warnings) > 1 || !flies && len(to.Warnings) > 0 {
				t.Errorf("warned %q", to.Warnings)
			}
			waits := strings.Contains(to.Text("virtual-0001.json"), "App.visit")
			told := slices.ContainsFunc(to.Lacks, func(l probe.Lack) bool {
				return l.What == "what waiting virtual threads wait for" && strings.Contains(l.Why, "JDK-8364343")
			})
			if waits != safe || told != (!safe && !flies) {
				t.Errorf("kept %q, lacks %+v", to.Names(), to.Lacks)
			}
			if flight := strings.HasPrefix(to.Text("flight-0001.jfr"), "FLR\x00"); flight != flies {
				t.Errorf("flight recording %v, want %v", flight, flies)
			}
			if on := checked(t, a); strings.Contains(on, "unstall") {
				t.Errorf("it is still on: %s", on)
			}
		})
	}
}

// TestVirtualAsked checks which commands JVMs with virtual threads get.
func TestVirtualAsked(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"JDK 20.0.2":   "only JVMs of JDK 21 to 24",
		"JDK 21.0.8":   "",
		"JDK 24.0.1":   "",
		"JDK 25.0.3":   "a JVM of JDK 25 (JDK-8364343)",
		"JDK 26.0.0":   "a JVM of JDK 26 (JDK-8364343)",
		"no version":   "only JVMs of JDK 21 to 24",
		"JDK 2(1).0.0": "only JVMs of JDK 21 to 24",
	} {
		s := &attachtest.Server{Answer: func(command string) string {
			switch command {
			case "VM.version":
				return "0\nOpenJDK 64-Bit Server VM version 0+1-LTS\n" + version + "\n"
			case "Thread.print -e":
				return "0\n2026-11-21 14:00:00\nFull thread dump OpenJDK 64-Bit Server VM (0+1-LTS mixed mode):\n\n" +
					"\"ForkJoinPool-1-worker-1\" #22 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x1 nid=21  [0x2]\n   Carrying virtual thread #21\n\n"
			}
			return "-1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n"
		}}
		vm, to := s.Start(t), probetest.NewSink()
		if err := recordJVM(t.Context(), vm, discover.Target{PID: os.Getpid(), Runtime: "jvm"}, probe.Plan{For: 700 * time.Millisecond}, to); err != nil {
			t.Fatal(err)
		}
		asked := slices.ContainsFunc(s.Commands(), func(c string) bool { return strings.Contains(c, "Thread.dump_to_file") })
		var whys []string
		for _, l := range to.Lacks {
			if strings.Contains(l.What, "virtual threads") {
				whys = append(whys, l.Why)
			}
		}
		if asked != (want == "") || len(whys) != min(len(want), 1) || want != "" && !strings.Contains(whys[0], want) {
			t.Errorf("%s: asked %q, lacks %q", version, s.Commands(), whys)
		}
	}
}
