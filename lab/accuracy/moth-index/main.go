// Moth-index finds moths by a mapped index of 256 MB. A housekeeper thinks memory is short and
// drops the index from memory all the time, so that searches fault it in from the disk.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

const indexSize = 256 << 20

var index []byte

func search(moth uint64) (found uint64) {
	r := rand.New(rand.NewPCG(moth, uint64(time.Now().UnixNano())))
	for range 60 {
		at := r.IntN(indexSize/4096) * 4096
		found ^= binary.LittleEndian.Uint64(index[at:])
	}
	return found
}

func tidy(f *os.File) {
	const dontneed = 4 // of madvise and of posix_fadvise
	for range time.Tick(20 * time.Millisecond) {
		syscall.Syscall(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(&index[0])), indexSize, dontneed)
		syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontneed, 0, 0)
	}
}

func main() {
	f, err := os.Create("moths.idx")
	if err != nil {
		log.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for n := range indexSize >> 20 {
		for i := 0; i < len(block); i += 8 {
			binary.LittleEndian.PutUint64(block[i:], uint64(n*i+7))
		}
		if _, err := f.Write(block); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		log.Fatal(err)
	}
	if index, err = syscall.Mmap(int(f.Fd()), 0, indexSize, syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		log.Fatal(err)
	}
	if err := syscall.Madvise(index, syscall.MADV_RANDOM); err != nil {
		log.Fatal(err)
	}
	if os.Getenv("FAULT") != "0" {
		go tidy(f)
	}
	http.HandleFunc("GET /moth/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseUint(r.PathValue("n"), 10, 64)
		fmt.Fprintln(w, search(n))
	})
	go func() { log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil)) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}
