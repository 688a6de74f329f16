// Command flash-sale prices baskets, without pprof: its owners never needed it.
package main

import (
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/price", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d.95 (%s)\n", len(r.URL.RawQuery), voucher(r.URL.RawQuery))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

// voucher is what a basket can be bought with for an hour.
func voucher(basket string) string {
	sum := sha256.Sum256([]byte(basket))
	for range 14_000 {
		sum = sha256.Sum256([]byte(strings.ToUpper(fmt.Sprintf("%x", sum[:4]))))
	}
	return fmt.Sprintf("%x", sum[:6])
}
