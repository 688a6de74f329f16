// Command peat-journal keeps what peat cutters dug, and reads it back (gin). Every five seconds the
// journals of all bogs are packed, by as many goroutines as there are bogs, which takes both CPUs for
// about a second; FAULT=0 packs one bog after the other, a little at a time.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/fnv"
	"log"
	"net/http/pprof"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

const bogs = 24

type bog struct {
	mu      sync.RWMutex
	journal []byte
	packed  int
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	all := make([]*bog, bogs)
	for i := range all {
		all[i] = &bog{journal: entries(i)}
	}
	go func() {
		if os.Getenv("FAULT") == "0" {
			for i := 0; ; i = (i + 1) % bogs {
				all[i].mu.RLock()
				page := all[i].journal[:len(all[i].journal)/40]
				all[i].mu.RUnlock()
				pack(page)
				time.Sleep(5 * time.Second / bogs)
			}
		}
		for range time.Tick(5 * time.Second) {
			var packers sync.WaitGroup
			for _, b := range all {
				packers.Go(b.archive)
			}
			packers.Wait()
		}
	}()
	r := gin.New()
	r.GET("/debug/pprof/*name", func(c *gin.Context) {
		switch name := strings.TrimPrefix(c.Param("name"), "/"); name {
		case "profile":
			pprof.Profile(c.Writer, c.Request)
		case "trace":
			pprof.Trace(c.Writer, c.Request)
		case "cmdline":
			pprof.Cmdline(c.Writer, c.Request)
		case "":
			pprof.Index(c.Writer, c.Request)
		default:
			pprof.Handler(name).ServeHTTP(c.Writer, c.Request)
		}
	})
	r.GET("/bog/:name/day/:day", func(c *gin.Context) {
		h := fnv.New32a()
		h.Write([]byte(c.Param("name") + c.Param("day")))
		b := all[h.Sum32()%bogs]
		b.mu.RLock()
		at := int(h.Sum32()/bogs) % (len(b.journal) - 4096)
		lines := bytes.Count(b.journal[at:at+4096], []byte{'\n'})
		b.mu.RUnlock()
		c.JSON(200, gin.H{"bog": c.Param("name"), "entries": lines})
	})
	log.Fatal(r.Run(os.Getenv("ADDR")))
}

// archive packs the journal as it is now.
func (b *bog) archive() {
	b.mu.RLock()
	journal := b.journal
	b.mu.RUnlock()
	n := pack(journal)
	b.mu.Lock()
	b.packed = n
	b.mu.Unlock()
}

func pack(journal []byte) int {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	w.Write(journal)
	w.Close()
	return out.Len()
}

func entries(seed int) []byte {
	var b bytes.Buffer
	for i := range 40000 {
		fmt.Fprintf(&b, "%d cutter %d dug %d sods at %x\n", i, (i*7+seed)%113, (i*i+seed)%977, i*seed*2654435761)
	}
	return b.Bytes()
}
