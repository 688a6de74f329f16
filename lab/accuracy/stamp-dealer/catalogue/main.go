// Command catalogue knows what stamps are worth. It answers in 4 ms as ever; some stamps it
// has never heard of.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	http.HandleFunc("GET /entry/{stamp}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(4 * time.Millisecond)
		stamp := r.PathValue("stamp")
		if strings.HasPrefix(stamp, "forged") {
			http.Error(w, `{"error":"no such stamp"}`, http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"Stamp":%q,"Cents":%d}`, stamp, 100+len(stamp)*40)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
