// Deed-box keeps deeds as small databases do. A transaction writes the old page to a journal and syncs it, writes and syncs the
// new page, and removes the journal. Transactions run one at a time.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

const pageSize = 4096

// box is a file of pages, with a journal beside it during a change.
type box struct {
	mu     sync.Mutex
	pages  *os.File
	synced bool
}

func (b *box) transact(page int64, by uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := make([]byte, pageSize)
	if _, err := b.pages.ReadAt(was, page*pageSize); err != nil {
		return err
	}
	if err := b.journal(page, was); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(was, binary.LittleEndian.Uint64(was)+by)
	if _, err := b.pages.WriteAt(was, page*pageSize); err != nil {
		return err
	}
	if err := b.sync(b.pages); err != nil {
		return err
	}
	return os.Remove("deeds.db-journal")
}

func (b *box) journal(page int64, was []byte) error {
	f, err := os.Create("deeds.db-journal")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(binary.LittleEndian.AppendUint64(nil, uint64(page))); err != nil {
		return err
	}
	if _, err := f.Write(was); err != nil {
		return err
	}
	return b.sync(f)
}

func (b *box) sync(f *os.File) error {
	if !b.synced {
		return nil
	}
	return f.Sync()
}

func main() {
	f, err := os.OpenFile("deeds.db", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	const pages = 512
	if err := f.Truncate(pages * pageSize); err != nil {
		log.Fatal(err)
	}
	b := &box{pages: f, synced: os.Getenv("FAULT") != "0"}
	http.HandleFunc("POST /deed/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
		if err != nil {
			http.Error(w, "no such deed", http.StatusBadRequest)
			return
		}
		if err := b.transact(n%pages, 1); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "kept")
	})
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, nil)) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}
