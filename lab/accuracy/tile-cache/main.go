// Command tile-cache serves map tiles from a cache in memory (fasthttp) and draws those it
// does not have. pprof is on a port of its own.
package main

import (
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/valyala/fasthttp"
)

type feature struct {
	name   string
	points []*[2]float64
	next   *feature
}

type tile struct {
	png      []byte
	features *feature
}

type shard struct {
	sync.Mutex
	tiles map[string]*tile
}

var shards [64]shard

func main() {
	for i := range shards {
		shards[i].tiles = map[string]*tile{}
	}
	for x := range 120 {
		for y := range 120 {
			key := fmt.Sprintf("/tile/9/%d/%d.png", x, y)
			of(key).tiles[key] = &tile{png: make([]byte, 4096), features: features(key)}
		}
	}
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	log.Fatal(fasthttp.ListenAndServe(os.Getenv("ADDR"), serve))
}

func of(key string) *shard {
	h := fnv.New32a()
	h.Write([]byte(key))
	return &shards[h.Sum32()%uint32(len(shards))]
}

func serve(ctx *fasthttp.RequestCtx) {
	key := string(ctx.Path())
	s := of(key)
	s.Lock()
	t := s.tiles[key]
	s.Unlock()
	if t == nil || ctx.QueryArgs().Has("fresh") {
		t = draw(key)
		s.Lock()
		s.tiles[key] = t
		s.Unlock()
	}
	ctx.SetContentType("image/png")
	ctx.Write(t.png)
}

func draw(key string) *tile {
	canvas := make([]byte, 200<<10)
	for i := range canvas {
		canvas[i] = key[i%len(key)]
	}
	return &tile{png: append([]byte(nil), canvas[:4096]...), features: features(key)}
}

// features are what is on a tile: roads, houses, names.
func features(key string) *feature {
	var first *feature
	for n := range 30 {
		f := &feature{name: fmt.Sprint(key, "#", n), next: first}
		for p := range 4 {
			f.points = append(f.points, &[2]float64{float64(n), float64(p)})
		}
		first = f
	}
	return first
}
