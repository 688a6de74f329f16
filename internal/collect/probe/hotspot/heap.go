package hotspot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/hsperf"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// mostHeap is the largest heap that is walked. All threads stop during the walk, up to 1.3 s for each GiB of small objects (JDK 11, 17
// and 25 with 24 million of them).
const mostHeap = 1 << 30

// countClasses counts the objects of each class, dead ones included. Without -all the JVM would first collect the whole heap.
func (r *recording) countClasses(ctx context.Context) error {
	n, err := r.usedHeap()
	if err != nil {
		return nil //nolint:nilerr // it has ended
	}
	if n > mostHeap {
		command := fmt.Sprintf("jcmd %d GC.class_histogram -all > classes.txt", r.pid)
		r.sink.Lack(probe.Lack{What: "class histogram",
			Why: fmt.Sprintf("the heap holds %.1f GiB: counting its objects pauses all threads for up to 1.3 s per GiB; run this when such a pause is acceptable, and give the file as well", float64(n)/(1<<30)),
			Do:  command})
		return nil
	}
	return r.storeAnswer(ctx, "", "classes", "GC.class_histogram -all")
}

// usedHeap returns how many bytes of the heap are used, by the JVM's counters, else the process's resident memory, which is no less.
func (r *recording) usedHeap() (sum int64, err error) {
	if f, err := discover.Hsperfdata(r.pid); err == nil {
		defer f.Close()
		d, _ := hsperf.Parse(f)
		for i := range d.Counters {
			if c := &d.Counters[i]; strings.HasPrefix(c.Name, "sun.gc.generation.") && strings.HasSuffix(c.Name, ".used") {
				sum += c.Value
			}
		}
	}
	if sum > 0 {
		return sum, nil
	}
	return residentBytes(r.pid)
}

// residentBytes returns the resident memory of a process.
func residentBytes(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0, errors.New("statm is cut off")
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// commands writes the text of VM.command_line without its secrets. An option's value may be a word of its own, which single lines do not
// show.
type commands struct {
	to   io.Writer
	held []byte
}

const mostLine = 1 << 20

func (c *commands) Write(p []byte) (int, error) {
	c.held = append(c.held, p...)
	for {
		i := bytes.IndexByte(c.held, '\n')
		if i < 0 {
			break
		}
		if _, err := io.WriteString(c.to, redactWords(string(c.held[:i]))+"\n"); err != nil {
			return 0, err
		}
		c.held = c.held[i+1:]
	}
	if len(c.held) > mostLine {
		c.held = nil
	}
	return len(p), nil
}

// redactWords removes the secrets from a command line that was joined by spaces and follows a name: "jvm_args: -Xmx2g",
// "java_command: app.jar 80".
func redactWords(line string) string {
	name, words, ok := strings.Cut(line, ": ")
	switch {
	case !ok:
		return redact.Words(line)
	case name == "java_command":
		return name + ": " + redact.Words(words)
	}
	return name + ": " + afterProgram(words)
}

// afterProgram is [redact.Words] of arguments without a program before them.
func afterProgram(words string) string { return strings.TrimPrefix(redact.Words("- "+words), "- ") }
