// Fragment splits a host's free memory into pieces that are all smaller than a huge page, as on
// hosts that have run for weeks. It fills free memory and gives all back except for one small page in each piece of the size of a huge
// page, which it pins. So it holds little memory itself, and compaction cannot make a huge page. As long as it runs it does the same
// with huge pages that become free.
//
//	fragment -most=.6
//
// It never holds more than that part of the host's memory, and gives up all of it when its standard
// input ends: the kernel then merges the pieces by itself.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	most := flag.Float64("most", .6, "part of the host's memory that it holds at most")
	every := flag.Duration("every", 20*time.Millisecond, "how often it looks for huge pages that became free")
	flag.Parse()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	if err := keepFragmented(*most, *every, ended); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// announceReady prints that all free memory is in pieces for now.
func announceReady(pieces int, took time.Duration) {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"ready": fmt.Sprintf("%d huge pages are in pieces, after %.0f s", pieces, took.Seconds())})
}
