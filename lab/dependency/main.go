// Dependency is the program that the labs' services depend on: it answers over HTTP and
// over the Redis protocol after a delay, and has periods in which it is slow.
//
//	dependency -delay 1ms -slow 60ms -every 1s -for 300ms
//
// With -monitor FILE it writes each second how long its answers took, as the monitor
// of a database does.
// It runs until standard input ends.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/resp"
)

var (
	delay = flag.Duration("delay", time.Millisecond, "time an answer takes")
	slow  = flag.Duration("slow", 0, "time an answer takes while slow; 0: never slow")
	every = flag.Duration("every", time.Second, "how often it becomes slow")
	long  = flag.Duration("for", 300*time.Millisecond, "how long it stays slow")
	size  = flag.Int("size", 512, "bytes of an answer")
	watch = flag.String("monitor", "", "file for the answers of each second and their times, CSV")
)

// Announcement is the first line on standard output.
type Announcement struct {
	RESP string `json:"resp"`
	HTTP string `json:"http"`
	PID  int    `json:"pid"`
}

func main() {
	flag.Parse()
	if err := serveDependency(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveDependency() error {
	value := []byte(`{"value":"` + strings.Repeat("x", *size) + `"}`)
	start := time.Now()
	answer := func() []byte {
		if *slow > 0 && time.Since(start)%*every < *long {
			time.Sleep(*slow)
		} else if *delay > 0 {
			time.Sleep(*delay)
		}
		return value
	}
	m, err := openMonitor(*watch)
	if err != nil {
		return err
	}
	overRESP, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	overHTTP, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go resp.Serve(overRESP, func(string) []byte { return answer() }, m.countAnswer)
	go http.Serve(overHTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		from := time.Now()
		w.Write(answer())
		m.countAnswer(time.Since(from))
	}))
	err = json.NewEncoder(os.Stdout).Encode(Announcement{overRESP.Addr().String(), overHTTP.Addr().String(), os.Getpid()})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
