package wiretest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

// Record runs a small program in this process, chosen by the seed, and returns its trace. It
// takes some milliseconds, or as long as asked: a generation is about a second.
func Record(seed uint64, atLeast time.Duration) ([]byte, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out bytes.Buffer
	profiled := rng.IntN(4) == 0 && pprof.StartCPUProfile(io.Discard) == nil
	defer func() {
		if profiled {
			pprof.StopCPUProfile()
		}
	}()
	before := rng.IntN(2) == 0 // something goes on from before the trace to beyond it
	hold := make(chan struct{})
	var held sync.WaitGroup
	if before {
		for range 1 + rng.IntN(5) {
			held.Add(1)
			go func() { defer held.Done(); <-hold }()
		}
	}
	defer held.Wait()
	defer close(hold)
	if err := trace.Start(&out); err != nil {
		return nil, fmt.Errorf("an execution trace of this process: %w", err)
	}
	start := time.Now()
	for n := 1 + rng.IntN(6); n > 0 || time.Since(start) < atLeast; n-- {
		work[rng.IntN(len(work))](rng)
	}
	trace.Stop()
	return out.Bytes(), nil
}

// work is what programs do that the runtime writes down.
var work = []func(*rand.Rand){
	pingPong, contendMutex, sleepTimers, readFiles, blockedRead, echoLoopback, collectGarbage, allocateMemory, annotateTasks, pullCoroutines, yieldOften, resizeProcs, lockThreads, yieldNested,
}

func runTogether(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() { defer all.Done(); f(i) }()
	}
	all.Wait()
}

func pingPong(rng *rand.Rand) {
	there, back := make(chan int), make(chan int, rng.IntN(2))
	go func() {
		defer close(back)
		for v := range there {
			back <- v
		}
	}()
	for i := range 1 + rng.IntN(100) {
		there <- i
		<-back
	}
	close(there)
	for range back {
	}
}

func contendMutex(rng *rand.Rand) {
	var mu sync.Mutex
	n := 1 + rng.IntN(50)
	runTogether(1+rng.IntN(8), func(int) {
		for range n {
			mu.Lock()
			runtime.Gosched()
			mu.Unlock()
		}
	})
}

func sleepTimers(rng *rand.Rand) {
	d := time.Duration(rng.IntN(300)) * time.Microsecond
	runTogether(1+rng.IntN(4), func(i int) {
		select {
		case <-time.After(d):
		case <-context.Background().Done():
		}
		time.Sleep(d * time.Duration(i))
	})
}

func readFiles(rng *rand.Rand) {
	n := 1 + rng.IntN(20)
	runTogether(1+rng.IntN(4), func(int) {
		for range n {
			if f, err := os.Open("/dev/zero"); err == nil {
				_, _ = f.Read(make([]byte, 4096))
				f.Close()
			}
		}
	})
}

// blockedRead has threads in system calls so long that their processors are taken away.
func blockedRead(rng *rand.Rand) {
	d := time.Duration(rng.IntN(2000)) * time.Microsecond
	runTogether(1+rng.IntN(6), func(int) {
		var p [2]int
		if syscall.Pipe(p[:]) != nil {
			return
		}
		go func() { time.Sleep(d); syscall.Close(p[1]) }()
		_, _ = syscall.Read(p[0], make([]byte, 1))
		syscall.Close(p[0])
	})
}

func echoLoopback(rng *rand.Rand) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	n := 1 + rng.IntN(20)
	runTogether(1+rng.IntN(4), func(int) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return
		}
		defer c.Close()
		for range n {
			_, _ = c.Write([]byte("x"))
			_, _ = c.Read(make([]byte, 1))
		}
	})
}

func collectGarbage(rng *rand.Rand) {
	for range 1 + rng.IntN(3) {
		runtime.GC()
	}
}

var kept [64][]byte

func allocateMemory(rng *rand.Rand) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	n := 1 + rng.IntN(40)
	runTogether(4, func(g int) {
		for i := range n {
			kept[16*g+i%16] = make([]byte, 64<<10)
			_ = make([]*int, 1<<10)
		}
	})
	clear(kept[:])
}

func annotateTasks(rng *rand.Rand) {
	n := 1 + rng.IntN(10)
	name := fmt.Sprint("task ", rng.IntN(5))
	runTogether(1+rng.IntN(4), func(i int) {
		ctx, t := trace.NewTask(context.Background(), name)
		defer t.End()
		for range n {
			trace.WithRegion(ctx, "outer", func() {
				trace.Log(ctx, "step", name)
				trace.WithRegion(ctx, name, runtime.Gosched)
			})
		}
		_, inner := trace.NewTask(ctx, "inner")
		if i%2 == 0 {
			inner.End()
		}
	})
}

func pullCoroutines(rng *rand.Rand) {
	n := rng.IntN(30)
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := range 20 {
			if !yield(i) {
				return
			}
		}
	})
	for range n {
		if _, ok := next(); !ok {
			break
		}
	}
	stop()
}

func yieldOften(rng *rand.Rand) {
	n := 1 + rng.IntN(200)
	runTogether(1+rng.IntN(20), func(int) {
		for range n {
			runtime.Gosched()
		}
	})
}

func resizeProcs(rng *rand.Rand) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1 + rng.IntN(6)))
	yieldOften(rng)
}

func lockThreads(rng *rand.Rand) {
	n := 1 + rng.IntN(20)
	runTogether(1+rng.IntN(3), func(i int) {
		runtime.LockOSThread() // and the thread ends with it
		for range n {
			runtime.Gosched()
		}
		if i == 0 {
			runtime.UnlockOSThread()
		}
	})
}

func yieldNested(rng *rand.Rand) {
	var down func(depth int)
	down = func(depth int) {
		if depth == 0 {
			runtime.Gosched()
			return
		}
		down(depth - 1)
	}
	depth := rng.IntN(200)
	runTogether(1+rng.IntN(3), func(int) { down(depth) })
}
