//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/lab"
	labs "github.com/unstall/unstall/lab/all"
)

// twins are healthy variants of each incident's lab: one watcher watches three services, and another watches the rest.
var twins = [2][]twin{
	{{"go-ballast", "little-allocation"}, {"jvm-parnew", "server-cache"}, {"dotnet-loh", "chunked-streamed"}},
	{{"dotnet-starvation", "taskasyncwait"}, {"linux-thp", "shop"}},
}

type twin struct{ lab, variant string }

// shared is a twin that runs beside the others.
type shared struct {
	twin
	*lab.Stand
	*lab.Service
}

// share is the part of its lab's load that each twin gets: all of them share the same CPUs.
const share = .2

// quietTwins watches all twins at once for a time, with a fifth of their load each. There must be no alarm, and the watcher of three
// services must cost no more than promised. Then a clock is set and put back, a target and the watcher are killed, and the disk is filled.
func quietTwins(ctx context.Context, unstall, dir string, d time.Duration) error {
	var wrong []error
	err := serveTwins(ctx, slices.Concat(twins[0], twins[1]), nil, func(all []shared) error {
		miss := func(format string, args ...any) {
			err := fmt.Errorf(format, args...)
			fmt.Println("  MISSED:", err)
			wrong = append(wrong, err)
		}
		ctx, end := context.WithCancel(ctx)
		var loads sync.WaitGroup
		defer loads.Wait()
		defer end()
		for _, one := range all {
			demand, err := one.Demand(one.Service)
			if err != nil {
				return err
			}
			loads.Go(func() { one.keepUnderLoad(ctx, demand) })
		}
		var two [2]*watcher
		for i := range two {
			w, err := newDisk(filepath.Join(dir, fmt.Sprint(i)), i == 0)
			if err != nil {
				return err
			}
			defer w.unmount()
			var pids []string
			for _, one := range all {
				if slices.Contains(twins[i], one.twin) {
					for _, pid := range one.Serving() {
						pids = append(pids, fmt.Sprint(pid))
					}
				}
			}
			if two[i], err = watchTargets(unstall, w.path, pids); err != nil {
				return err
			}
			defer func() { two[i].kill() }()
		}
		began := time.Now()
		var both sync.WaitGroup
		for _, w := range two {
			both.Go(func() { w.measureFor(ctx, d) })
		}
		both.Wait()
		for i, w := range two {
			cpu, rss, ring := w.costFigures()
			fmt.Printf("%d twins quiet for %s: %.2f %% of a core, %.1f MiB at most, ring %.1f MiB at most, %d alarms\n", len(twins[i]), time.Since(began).Round(time.Second), cpu, rss, ring, w.countEvents(watch.EventAlarm))
			if i == 0 && (cpu > mostCPU || rss > mostRSS) || ring > mostOf {
				miss("more than %g %% of a core, %g MiB, or a ring of %d MiB", mostCPU, mostRSS, mostOf)
			}
		}
		if err := injectFaults(ctx, unstall, filepath.Join(dir, "0"), two[:1], all[0], miss); err != nil {
			return err
		}
		for i, w := range two {
			for _, l := range w.alarmLines() {
				miss("a false alarm of watcher %d: %s of %s: %s", i, l.Rule, l.Target, l.Text)
			}
		}
		return nil
	})
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		err = nil // the lab reports the target that was killed
	}
	return errors.Join(append(wrong, err)...)
}

// serveTwins runs twins of several labs side by side while do runs.
func serveTwins(ctx context.Context, of []twin, so []shared, do func([]shared) error) error {
	if len(of) == 0 {
		return do(so)
	}
	x := of[0]
	i := slices.IndexFunc(labs.Labs, func(l *lab.Lab) bool { return l.Name == x.lab })
	if i < 0 {
		return fmt.Errorf("there is no lab %s", x.lab)
	}
	opt := lab.Options{Quick: true, Progress: func(text string) { fmt.Println("  " + text) }}
	return lab.Serve(ctx, labs.Labs[i], opt, []string{x.variant}, func(s *lab.Stand) error {
		return serveTwins(ctx, of[1:], append(so, shared{x, s, s.Service(x.variant)}), do)
	})
}

// keepUnderLoad keeps a twin under its part of the load until the context ends.
func (x shared) keepUnderLoad(ctx context.Context, d lab.Demand) {
	const stretch = time.Minute // of each drive, which keeps a row of each request
	part := lab.Demand{Rate: share * d.Rate, For: stretch, Patience: d.Patience}
	if d.Rate == 0 {
		part.Connections = max(1, int(share*float64(d.Connections)))
	}
	for ctx.Err() == nil {
		if _, err := x.Drive(ctx, x.Service, part); err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "load of %s: %v\n", x.variant, err)
			sleepContext(ctx, time.Second) // a killed service is not there
		}
	}
}

// injectFaults causes faults that must not end a watcher: the watcher must report each fault and go on,
// and its stored files must be readable.
func injectFaults(ctx context.Context, unstall, dir string, w []*watcher, victim shared, miss func(string, ...any)) error {
	says := func(what, event, of string, since time.Time, within time.Duration) {
		l, err := w[0].waitForLine(ctx, since, within, func(l watch.Line) bool { return l.Event == event && strings.Contains(l.Text, of) })
		if err != nil {
			miss("%s: %v", what, err)
			return
		}
		fmt.Printf("  %s: %q after %.0f s\n", what, l.Text, l.Time.Sub(since).Seconds())
	}
	grows := func(what string) {
		before := ringSegments(dir)
		more := func() bool {
			return slices.ContainsFunc(ringSegments(dir), func(path string) bool { return !slices.Contains(before, path) })
		}
		for late := time.Now().Add(2 * time.Minute); !more() && time.Now().Before(late) && ctx.Err() == nil; {
			sleepContext(ctx, time.Second)
		}
		if !more() {
			miss("%s: nothing is recorded any more", what)
		}
	}

	at := time.Now()
	back, err := setClock(time.Hour)
	if err != nil {
		fmt.Println("  the clock cannot be set here:", err)
	} else {
		says("the clock is set an hour ahead", watch.EventTrouble, "the clock was set by 1h", at, 10*time.Second)
		sleepContext(ctx, 20*time.Second)
		back()
		says("and back", watch.EventTrouble, "the clock was set by -1h", time.Now(), 10*time.Second)
		grows("after the clock was set")
	}

	fill := filepath.Join(dir, "others")
	at = time.Now()
	if err := fillDisk(fill); err != nil {
		fmt.Println("  the disk cannot be filled:", err)
	} else {
		says("the disk is full", watch.EventTrouble, "no space left", at, 90*time.Second)
		at = time.Now()
		_ = os.Remove(fill)
		says("there is room again", watch.EventTrouble, "recorded again", at, 3*time.Minute)
		grows("after the disk was full")
	}

	at = time.Now()
	if err := syscall.Kill(victim.PID, syscall.SIGKILL); err != nil {
		return err
	}
	says("a target is killed", watch.EventGone, "has ended", at, 15*time.Second)

	w[0].kill()
	whole, empty, torn := countReadable(dir)
	fmt.Printf("  the watcher is killed: %d captures can be read, %d hold nothing, %d cannot be read\n", whole, empty, torn)
	if torn > 0 || whole == 0 {
		miss("captures of a watcher that was killed cannot be read")
	}
	var rest []string
	for _, arg := range w[0].Args[1:] {
		if arg != fmt.Sprint(victim.PID) {
			rest = append(rest, arg)
		}
	}
	again, err := startWatcher(unstall, dir, rest)
	if err != nil {
		return err
	}
	again.lines, w[0] = slices.Clone(w[0].lines), again
	says("another goes on", watch.EventFound, "watching ", again.began, 30*time.Second)
	grows("after the watcher was killed")
	return nil
}

// countReadable counts the captures under a folder: those that can be read and hold something, those
// that are empty because they were begun on a full disk or just before the end, and those that
// cannot be read.
func countReadable(dir string) (whole, empty, torn int) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".unstall") {
			return nil //nolint:nilerr // what cannot be listed holds no capture to count
		}
		switch c, err := capture.Open(path); {
		case err != nil:
			torn++
			fmt.Println("  cannot be read:", path, err)
		case len(c.Artifacts()) == 0:
			empty++
		default:
			whole++
		}
		return nil
	})
	return whole, empty, torn
}

// ringSegments returns the paths of the ring's segments.
func ringSegments(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "state", "ring", "*.unstall"))
	return found
}

// setClock shifts the host's clock; back shifts it by as much the other way.
func setClock(by time.Duration) (back func(), err error) {
	set := func(by time.Duration) error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return err
		}
		to := unix.NsecToTimespec(now.Nano() + int64(by))
		return unix.ClockSettime(unix.CLOCK_REALTIME, &to)
	}
	if err := set(by); err != nil {
		return nil, err
	}
	return func() { _ = set(-by) }, nil
}

// disk is a small file system of its own.
type disk struct {
	path    string
	mounted bool
}

func newDisk(path string, small bool) (disk, error) {
	if err := os.MkdirAll(path, 0o700); err != nil || !small {
		return disk{path: path}, err
	}
	err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=320m") // the ring may have 256
	if err != nil {
		fmt.Println("  no small disk can be made:", err)
	}
	return disk{path, err == nil}, nil
}

func (d disk) unmount() {
	if d.mounted {
		_ = unix.Unmount(d.path, unix.MNT_DETACH)
	}
}

// fillDisk writes a file until nothing more fits; only on a small disk.
func fillDisk(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return err
	}
	if size := int64(st.Blocks) * st.Bsize; size > 1<<30 {
		return fmt.Errorf("it has %d MiB", size>>20)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, block := range [][]byte{make([]byte, 1<<20), make([]byte, 4<<10)} {
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	return nil
}
