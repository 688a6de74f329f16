// Command backup archives the host's files. With the fault backup it compresses them with
// as many goroutines as -workers says, as hard as it can; else it has nothing to do.
package main

import (
	"compress/gzip"
	"flag"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
)

func main() {
	workers := flag.Int("workers", 8, "files compressed at a time")
	flag.Parse()
	if os.Getenv("FAULT") == "backup" {
		for range *workers {
			go compress()
		}
	}
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// compress archives files of 4 MB, one after the other.
func compress() {
	file := make([]byte, 4<<20)
	for i := range file {
		file[i] = "the quick brown fox jumps"[rand.IntN(25)]
	}
	for {
		w, err := gzip.NewWriterLevel(io.Discard, gzip.BestCompression)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := w.Write(file); err != nil {
			log.Fatal(err)
		}
		w.Close()
	}
}
