package experiment

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
)

// GuardCommand is the first argument of the second process of a try. A program that has it passes its arguments
// to [Guard] before it does anything else.
const GuardCommand = "try-guard"

// guard is the second process. If the first one has ended, however it ended, and has not put the setting back,
// the guard does.
type guard struct {
	command *exec.Cmd
	alive   *os.File // closing it ends the guard
	over    chan struct{}
}

// starting is how long the guard may take to report that it runs.
const starting = 20 * time.Second

// startGuard starts the guard in a session of its own, so that it gets no Ctrl-C and no hang-up.
// The guard holds the note's lock, too.
func startGuard(note string, held *os.File, until time.Time) (*guard, error) {
	in, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	ready, out, err := os.Pipe()
	if err != nil {
		_ = alive.Close()
		return nil, err
	}
	defer ready.Close()
	g := &guard{alive: alive, over: make(chan struct{})}
	g.command = exec.Command("/proc/self/exe", GuardCommand, note, strconv.FormatInt(until.UnixNano(), 10))
	g.command.Args[0] = os.Args[0]
	g.command.Dir = "/"
	g.command.Stdin, g.command.Stdout, g.command.ExtraFiles = in, out, []*os.File{held}
	setOwnSession(g.command)
	err = g.command.Start()
	_ = out.Close()
	if err != nil {
		_ = alive.Close()
		return nil, err
	}
	go func() {
		_ = g.command.Wait()
		close(g.over)
	}()
	_ = ready.SetReadDeadline(time.Now().Add(starting))
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		g.release()
		return nil, fmt.Errorf("it does not answer: %w", err)
	}
	return g, nil
}

func (g *guard) hasEnded() bool {
	select {
	case <-g.over:
		return true
	default:
		return false
	}
}

// release lets the guard process end; if the note is gone it has nothing to put back.
func (g *guard) release() { _ = g.alive.Close() }

// patient is how long the guard tries to put back a setting of a JVM that does not answer.
const patient = time.Minute

// Guard runs the second process of a try, with the arguments behind [GuardCommand].
func Guard(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: is started by unstall try", GuardCommand)
	}
	note, err := probe.Held(args[0])
	if err != nil {
		return err
	}
	c, known := changeOf(note)
	until, err := strconv.ParseInt(args[1], 10, 64)
	if !known || err != nil {
		return fmt.Errorf("%s: is started by unstall try", GuardCommand)
	}
	told := ignoreTerminalSignals()
	gone := make(chan struct{})
	go func() {
		var b [1]byte
		_, _ = os.Stdin.Read(b[:]) // no data ever comes: the read ends with the first process
		close(gone)
	}()
	fmt.Println("ready")
	select {
	case <-gone:
	case <-told: // the first process, if it still runs, notices that the guard has ended and ends, too
	case <-time.After(time.Until(time.Unix(0, until))):
	}
	for end := time.Now().Add(patient); note.There(); time.Sleep(time.Second) {
		if _, err = restoreSetting(context.Background(), c); err == nil {
			note.Forget()
		}
		if err == nil || time.Now().After(end) { // on an error the next start of the tool puts it back
			return err
		}
	}
	return nil
}
