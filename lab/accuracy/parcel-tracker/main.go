// Parcel-tracker answers where parcels are (chi): each answer is rendered and signed, so
// that the processors are busy most of the time, and keep up.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type scan struct {
	At    time.Time `json:"at"`
	Depot string    `json:"depot"`
	What  string    `json:"what"`
}

type parcel struct {
	ID    int    `json:"id"`
	Scans []scan `json:"scans"`
}

// desk keeps the parcels that are under way.
type desk struct {
	secret  []byte
	parcels []parcel
}

// packers are kept: a new one takes most of a megabyte.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

var depots = []string{"Leipzig", "Lyon", "Liège", "Linz", "Lodz", "Lugano", "Luton", "Lund"}

func newParcel(id int) parcel {
	p := parcel{ID: id}
	at := time.Unix(1_700_000_000+int64(id), 0).UTC()
	for i := range 60 {
		p.Scans = append(p.Scans, scan{at.Add(time.Duration(i) * 40 * time.Minute), depots[(id+i*7)%len(depots)], fmt.Sprintf("belt %d", (id*31+i)%97)})
	}
	return p
}

// label is the history of a parcel, compressed as the scanners of depots want it and signed.
func (d *desk) label(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil || id < 0 || id >= len(d.parcels) {
		http.Error(w, "no such parcel", http.StatusNotFound)
		return
	}
	var packed bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&packed)
	if err := json.NewEncoder(z).Encode(d.parcels[id]); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	z.Close()
	mac := hmac.New(sha256.New, d.secret)
	for range 8000 { // as many rounds as the scanners ask for
		mac.Write(packed.Bytes())
	}
	w.Header().Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))
	w.Write(packed.Bytes())
}

func main() {
	d := &desk{secret: []byte("of the depots")}
	for id := range 30_000 {
		d.parcels = append(d.parcels, newParcel(id))
	}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/parcels/{id}/label", d.label)
	r.Mount("/debug", middleware.Profiler())
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}
