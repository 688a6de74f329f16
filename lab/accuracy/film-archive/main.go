// Film-archive hands out clips of old films (net/http): files of some megabytes, which
// viewers on thin lines take their time to read, and lists what there is.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path"
	"time"
)

type clip struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

func main() {
	random := rand.NewChaCha8([32]byte{1})
	var list []clip
	films := map[string][]byte{}
	for _, name := range []string{"arrival.mp4", "workers.mp4", "gardener.mp4", "snowball.mp4"} {
		film := make([]byte, 3<<20)
		random.Read(film)
		films[name] = film
		list = append(list, clip{name, len(film)})
	}
	http.HandleFunc("GET /clips", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(list)
	})
	began := time.Now()
	http.HandleFunc("GET /clips/{name}", func(w http.ResponseWriter, r *http.Request) {
		film, ok := films[path.Base(r.PathValue("name"))]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "clip.mp4", began, bytes.NewReader(film))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
