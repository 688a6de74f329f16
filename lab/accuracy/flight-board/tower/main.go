// Tower says where a flight is, always after the same time.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("GET /flight/{number}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(12 * time.Millisecond)
		fmt.Fprintf(w, "%s is boarding", r.PathValue("number"))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
