// Command export-json exports all orders of a customer (gorilla/mux).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/gorilla/mux"
)

type order struct {
	Number string            `json:"number"`
	Placed time.Time         `json:"placed"`
	Lines  []map[string]any  `json:"lines"`
	Notes  map[string]string `json:"notes,omitempty"`
}

var orders []order

func main() {
	count := 900
	if os.Getenv("FAULT") == "0" {
		count = 20
	}
	for n := range count {
		o := order{Number: fmt.Sprint("O-", n), Placed: time.Unix(int64(n)*86400, 0), Notes: map[string]string{"by": "phone", "paid": "yes"}}
		for l := range 12 {
			o.Lines = append(o.Lines, map[string]any{"article": fmt.Sprint("A", l), "count": l, "price": float64(l) * 1.19, "ok": true})
		}
		orders = append(orders, o)
	}
	go func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(http.Serve(l, nil))
	}()
	r := mux.NewRouter()
	r.HandleFunc("/export/{customer}", export)
	r.HandleFunc("/latest/{customer}", func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(orders[0]) })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

// export marshals each order twice: as it is, and indented for people.
func export(w http.ResponseWriter, _ *http.Request) {
	var out bytes.Buffer
	for _, o := range orders {
		text, err := json.Marshal(o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.Indent(&out, text, "", "  ")
	}
	w.Write(out.Bytes()[:min(out.Len(), 64<<10)])
}
