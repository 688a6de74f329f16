package remote

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
)

// GuestCommand is the first argument of the program on the other host. A program that has it passes the following arguments to [Guest]
// before it does anything else.
const GuestCommand = "remote-guest"

// OwnFolder stands for a folder that the guest creates.
const OwnFolder = "-"

// greeting is the line by which the guest answers a request. The program that carries the connection may print lines before it.
const greeting = "unstall-guest 1"

// Silence is how long the guest waits for a sign of the other side, which sends one every fifth of it. A network that breaks does not
// close its connections.
const Silence = time.Minute

// tailEvery is the time between two sends of newly recorded data.
const tailEvery = 500 * time.Millisecond

// Work records what a request asks for into a capture at path, and reports to people through say. It calls first when a first finding can
// be made. It returns an exit code.
type Work func(ctx context.Context, request json.RawMessage, path string, say io.Writer, first func()) (code int)

// result is the last message of the guest.
type result struct {
	Code int   `json:"code"`
	Size int64 `json:"size"` // of the capture; 0: there is none
}

// Guest is the program's side on the other host. It does the work in a folder of its own, which it removes. The work ends if its input
// ends or is silent.
func Guest(dir string, in io.Reader, out io.Writer, silence time.Duration, work Work) error {
	if dir == OwnFolder {
		made, err := makeFolder()
		if err != nil {
			return err
		}
		dir = made
	}
	defer os.RemoveAll(dir) // the shell also does, if it is alive
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	asked, err := readFrame(in)
	if err != nil || asked.kind != request {
		return fmt.Errorf("%s: it is started by unstall on another host: unstall ssh://HOST/PID", GuestCommand)
	}
	if _, err := fmt.Fprintln(out, greeting); err != nil {
		return err
	}
	g := &guest{path: filepath.Join(dir, "capture.unstall"), queue: make(chan frame, 16), gone: make(chan struct{}), written: make(chan struct{})}
	go g.listen(in, silence, cancel)
	go g.writeQueue(out)

	over, tailed := make(chan struct{}), make(chan struct{})
	wake := make(chan struct{}, 1)
	go func() { g.sendGrowing(over, wake); close(tailed) }()
	code := work(ctx, asked.payload, g.path, g, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	close(over)
	<-tailed
	end, err := json.Marshal(result{code, g.sent})
	if err != nil {
		return err
	}
	g.send(frame{ended, end})
	close(g.queue)
	select {
	case <-g.written:
	case <-g.gone:
	}
	return nil
}

// makeFolder makes a new folder. If a container's image has no other writable folder, it is in shared memory.
func makeFolder() (dir string, err error) {
	for _, where := range []string{os.TempDir(), "/var/tmp", "/dev/shm"} {
		if dir, err = os.MkdirTemp(where, "unstall."); err == nil {
			return dir, nil
		}
	}
	return "", err
}

type guest struct {
	path    string
	sent    int64 // bytes of the capture that were sent
	named   bool
	queue   chan frame
	gone    chan struct{} // closed when the other side is gone
	written chan struct{} // closed when the whole queue is written
	lost    sync.Once
}

// listen ends the work when the other side asks for it, closes the connection, or is silent for
// too long.
func (g *guest) listen(in io.Reader, silence time.Duration, cancel func()) {
	alarm := time.AfterFunc(silence, func() { g.markGone(); cancel() })
	for {
		f, err := readFrame(in)
		if err != nil {
			alarm.Stop()
			g.markGone()
			cancel()
			return
		}
		alarm.Reset(silence)
		if f.kind == stop {
			cancel()
		}
	}
}

func (g *guest) markGone() { g.lost.Do(func() { close(g.gone) }) }

// writeQueue writes the frames of the queue. Only it waits for a slow network, as long as the other side is there.
func (g *guest) writeQueue(out io.Writer) {
	defer close(g.written)
	for f := range g.queue {
		if err := f.write(out); err != nil {
			g.markGone()
			return
		}
	}
}

func (g *guest) send(f frame) bool {
	select {
	case <-g.gone: // stop here, even if the queue has room
		return false
	default:
	}
	select {
	case g.queue <- f:
		return true
	case <-g.gone:
		return false
	}
}

// Write sends text to the user.
func (g *guest) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		n := min(len(rest), maxFrame)
		if !g.send(frame{said, append([]byte(nil), rest[:n]...)}) {
			break // the other side is gone, which ends the recording
		}
		rest = rest[n:]
	}
	return len(text), nil
}

// sendGrowing sends the capture as it grows, until it has ended and was sent completely.
func (g *guest) sendGrowing(over, wake <-chan struct{}) {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			g.sendNew()
			return
		case <-wake:
			g.sendNew()
			g.send(frame{kind: first})
		case <-tick.C:
			g.sendNew()
		}
	}
}

// sendNew sends the part of the capture that was not sent yet.
func (g *guest) sendNew() {
	f, err := os.Open(g.path)
	if err != nil {
		return
	}
	defer f.Close()
	if !g.named {
		c, err := capture.Open(g.path)
		if err != nil {
			return // its first member is not whole
		}
		g.named = g.send(frame{named, []byte(c.Info.Target)})
	}
	if fi, err := f.Stat(); err == nil && fi.Size() < g.sent {
		g.sent = fi.Size() // the part that did not fit on a full disk was cut off
	}
	for {
		piece := make([]byte, 8+64<<10)
		n, err := f.ReadAt(piece[8:], g.sent)
		if n == 0 {
			return
		}
		binary.BigEndian.PutUint64(piece, uint64(g.sent))
		if !g.send(frame{data, piece[:8+n]}) {
			return
		}
		g.sent += int64(n)
		if errors.Is(err, io.EOF) {
			return
		}
	}
}
