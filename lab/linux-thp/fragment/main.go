// Fragment leaves a host's free memory in pieces, none of them as large as a huge page, as hosts
// have it that ran for weeks. It takes huge pages, one after the other, as long as there are any
// free, and gives each back but for one small page in it, which it pins: so it holds little itself,
// and compaction finds no place to make a huge page of. It takes what becomes free meanwhile, too.
//
//	fragment -most=.6
//
// It never holds more than that part of the host's memory, and gives up all of it when its standard
// input ends: the kernel puts the pieces together again by itself.
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

// announceReady writes that it is done for now.
func announceReady(pieces int, took time.Duration) {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"ready": fmt.Sprintf("%d huge pages are in pieces, after %.0f s", pieces, took.Seconds())})
}
