// Command mosaic-tiles lays mosaics: it computes the tiles of a floor and writes them as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
)

// Tile is a stone of a mosaic.
type Tile struct {
	Row, Column int
	Colour      string
	Corners     []float32
}

func main() {
	http.HandleFunc("GET /mosaic/{floor}", func(w http.ResponseWriter, r *http.Request) {
		tiles := lay(r.PathValue("floor"))
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(tiles); err != nil {
			log.Print(err)
		}
	})
	http.HandleFunc("GET /colour/{n}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, colour(len(r.PathValue("n"))*7))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// lay returns the tiles of a floor, always the same ones.
func lay(floor string) []*Tile {
	seed := fnv.New64()
	seed.Write([]byte(floor))
	random := rand.New(rand.NewPCG(seed.Sum64(), 1))
	var tiles []*Tile
	for row := range 30 {
		for column := range 30 {
			corners := make([]float32, 8, 240)
			for i := range corners {
				corners[i] = random.Float32()
			}
			tiles = append(tiles, &Tile{row, column, colour(random.IntN(32)), corners})
		}
	}
	return tiles
}

func colour(n int) string { return fmt.Sprintf("#%02x%02x%02x", n*8%256, n*19%256, n*37%256) }
