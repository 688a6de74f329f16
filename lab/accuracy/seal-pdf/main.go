// Command seal-pdf seals documents: a chain of hashes that takes a while to compute.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
)

func main() {
	rounds := 28_000
	if os.Getenv("FAULT") == "0" {
		rounds /= 4
	}
	http.HandleFunc("POST /seal/{name}", func(w http.ResponseWriter, r *http.Request) {
		document, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		io.WriteString(w, seal(append(document, r.PathValue("name")...), rounds))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func seal(document []byte, rounds int) string {
	sum := sha256.Sum256(document)
	for n := range rounds {
		sum = sha256.Sum256(append(strconv.AppendInt(nil, int64(n), 10), sum[:]...))
	}
	return hex.EncodeToString(sum[:])
}
