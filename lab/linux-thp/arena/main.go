// Arena is a service that works in scratch memory: it maps as much as its largest request may need,
// uses some of it, and gives it back, as allocators do with large blocks. The part that a
// request touches decides what huge pages cost it:
//
//	arena -touch=2097152    a byte in every 2 MiB: the sick one
//	arena -touch=4096       all of it
//
// The other modes are services that are slow for other reasons in the kernel, or outside of it.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/unstall/unstall/lab/service"
)

func main() {
	s := service.New()
	mode := flag.String("mode", "scratch", "scratch, compute, journal, datagrams or files: what a request does")
	size := flag.Int("size", 8, "MiB of scratch memory, or of files")
	touch := flag.Int("touch", 2<<20, "scratch: distance of the bytes that are touched")
	thp := flag.Bool("thp", true, "have transparent huge pages as the host gives them; false: none for this process (PR_SET_THP_DISABLE)")
	dir := flag.String("files", "", "where files are: the first part of their paths")
	flag.Parse()
	if err := serveMode(s, *mode, *size<<20, *touch, *thp, *dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveMode(s *service.Service, mode string, size, touch int, thp bool, dir string) error {
	if !thp {
		if err := withoutHugePages(); err != nil {
			return fmt.Errorf("huge pages cannot be switched off for this process: %w", err)
		}
	}
	var do func(w http.ResponseWriter, r *http.Request) error
	var err error
	switch mode {
	case "scratch":
		do = func(http.ResponseWriter, *http.Request) error { return useScratch(size, touch) }
	case "compute":
		do = computeTenth
	case "journal":
		do, err = newJournal(dir)
	case "datagrams":
		do, err = newBroadcast()
	case "files":
		do, err = newFileLookup(dir, size)
	default:
		err = fmt.Errorf("-mode=%s: unknown mode", mode)
	}
	if err != nil {
		return err
	}
	s.Handle("/press", func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "pressed")
	})
	s.Run()
	return nil
}
