// Command frame-scale scales frames of films. Each request maps memory for the frame and
// gives it back to the kernel when it is done.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"syscall"
)

const frame = 24 << 20

func main() {
	http.HandleFunc("GET /frame/{n}", func(w http.ResponseWriter, r *http.Request) {
		light, err := scale(len(r.PathValue("n")))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "light:", light)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

var kept = make(chan []byte, 8)

func scale(seed int) (light int, err error) {
	var pixels []byte
	if os.Getenv("FAULT") == "0" {
		select {
		case pixels = <-kept:
		default:
			pixels = make([]byte, frame)
		}
		defer func() { kept <- pixels }()
	} else {
		pixels, err = syscall.Mmap(-1, 0, frame, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return 0, err
		}
		syscall.Madvise(pixels, syscall.MADV_NOHUGEPAGE)
		defer syscall.Munmap(pixels)
	}
	for i := 0; i < len(pixels); i += 4096 {
		pixels[i] = byte(i>>12 + seed)
		light += int(pixels[i])
	}
	return light, nil
}
