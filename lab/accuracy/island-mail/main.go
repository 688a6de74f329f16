// Command island-mail says how much mail lies on thirty islands: each page asks all of them,
// three at a time. FAULT=0 asks them all at once.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
)

var isles = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

func ask(i int) int {
	resp, err := isles.Get(fmt.Sprint("http://", os.Getenv("ADDR_ISLES"), "/", i))
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return len(b)
}

func main() {
	http.HandleFunc("GET /mail", func(w http.ResponseWriter, r *http.Request) {
		slots := make(chan struct{}, 3)
		if os.Getenv("FAULT") == "0" {
			slots = make(chan struct{}, 30)
		}
		var all sync.WaitGroup
		got := make([]int, 30)
		for i := range got {
			slots <- struct{}{}
			all.Add(1)
			go func() {
				defer func() { <-slots; all.Done() }()
				got[i] = ask(i)
			}()
		}
		all.Wait()
		fmt.Fprintln(w, got)
	})
	http.HandleFunc("GET /tide", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "low\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
