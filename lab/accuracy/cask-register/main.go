// Command cask-register enters casks in a register (chi): a file that other programs on the
// host use, too, so that it is locked by flock.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-chi/chi/v5"
)

var register string

func main() {
	_, port, _ := net.SplitHostPort(os.Getenv("ADDR"))
	register = filepath.Join(os.TempDir(), "casks-"+port)
	go func() {
		end := make(chan os.Signal, 1)
		signal.Notify(end, syscall.SIGTERM)
		<-end
		os.Remove(register)
		os.Exit(0)
	}()
	r := chi.NewRouter()
	r.Post("/cask/{number}/{spirit}", func(w http.ResponseWriter, r *http.Request) {
		if err := enter(chi.URLParam(r, "number"), chi.URLParam(r, "spirit")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	r.Get("/spirits", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "rum\nport\n") })
	r.Mount("/debug/pprof", http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func enter(number, spirit string) error {
	f, err := os.OpenFile(register, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return err
		}
	}
	_, err = fmt.Fprintf(f, "%s\t%s\n", number, spirit)
	return err
}
