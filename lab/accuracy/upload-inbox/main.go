// Command upload-inbox takes scans of letters (httprouter): each page becomes a file that
// is on the disk, with its name, before the sender is told.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"

	"github.com/julienschmidt/httprouter"
)

var inbox string

func main() {
	var err error
	if inbox, err = os.MkdirTemp("", "inbox"); err != nil {
		log.Fatal(err)
	}
	router := httprouter.New()
	router.PUT("/scan/:letter", put)
	router.GET("/free", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { fmt.Fprintln(w, "yes") })
	router.HandlerFunc("GET", "/debug/pprof/:item", func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Base(r.URL.Path) {
		case "profile":
			pprof.Profile(w, r)
		case "trace":
			pprof.Trace(w, r)
		default:
			pprof.Index(w, r)
		}
	})
	router.HandlerFunc("GET", "/debug/pprof/", pprof.Index)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}

func put(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	scan, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for page := range 8 {
		if err := store(filepath.Join(inbox, fmt.Sprintf("%s-%d.tif", p.ByName("letter"), page)), scan); err != nil {
			http.Error(w, err.Error(), http.StatusInsufficientStorage)
			return
		}
	}
	fmt.Fprintln(w, "stored")
}

func store(name string, scan []byte) error {
	file, err := os.CreateTemp(inbox, "part-*")
	if err != nil {
		return err
	}
	defer file.Close()
	for range 8 {
		file.Write(scan)
	}
	if os.Getenv("FAULT") != "0" {
		if err := file.Sync(); err != nil {
			return err
		}
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return err
	}
	if os.Getenv("FAULT") == "0" {
		return nil
	}
	dir, err := os.Open(inbox)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
