// Command feature-flags tells which features a customer has. One request in six changes
// something, and each change writes the whole audit as JSON while nobody may look.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
)

type flags struct {
	lock  sync.RWMutex
	state map[string]map[string]bool
	audit []byte
}

func main() {
	f := &flags{state: map[string]map[string]bool{}}
	for n := range 1500 {
		f.state["customer-"+strconv.Itoa(n)] = map[string]bool{"dark": n%2 == 0, "beta": n%3 == 0, "export": n%5 == 0, "sso": true}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /flags/{customer}", f.get)
	mux.HandleFunc("POST /flags/{customer}/{flag}", f.set)
	go func() {
		debug, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(http.Serve(debug, nil))
	}()
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

func (f *flags) get(w http.ResponseWriter, r *http.Request) {
	f.lock.RLock()
	answer, err := json.Marshal(f.state[r.PathValue("customer")])
	f.lock.RUnlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(answer)
}

func (f *flags) set(w http.ResponseWriter, r *http.Request) {
	f.lock.Lock()
	defer f.lock.Unlock()
	of := f.state[r.PathValue("customer")]
	if of == nil {
		http.NotFound(w, r)
		return
	}
	of[r.PathValue("flag")] = !of[r.PathValue("flag")]
	if os.Getenv("FAULT") != "0" {
		f.writeAudit()
	}
}

func (f *flags) writeAudit() {
	var out bytes.Buffer
	in := json.NewEncoder(&out)
	in.SetIndent("", " ")
	for customer, state := range f.state {
		in.Encode(map[string]any{"customer": customer, "flags": state})
	}
	f.audit = out.Bytes()
}
