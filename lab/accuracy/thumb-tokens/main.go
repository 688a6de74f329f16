// Command thumb-tokens makes thumbnails (chi). Tokens in a channel keep it from asking the
// picture store too much at once.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/go-chi/chi/v5"
)

type thumbs struct {
	tokens chan struct{}
	store  string
}

func main() {
	t := &thumbs{tokens: make(chan struct{}, 3), store: "http://" + os.Getenv("ADDR_STORE") + "/picture/"}
	if os.Getenv("FAULT") == "0" {
		t.tokens = make(chan struct{}, 40)
	}
	for range cap(t.tokens) {
		t.tokens <- struct{}{}
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	go func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(http.Serve(l, nil))
	}()
	r := chi.NewRouter()
	r.Get("/thumb/{id}", t.thumb)
	r.Get("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "User-agent: *\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (t *thumbs) thumb(w http.ResponseWriter, r *http.Request) {
	<-t.tokens
	picture, err := t.fetch(chi.URLParam(r, "id"))
	t.tokens <- struct{}{}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Write(shrink(picture))
}

func (t *thumbs) fetch(id string) ([]byte, error) {
	response, err := http.Get(t.store + id)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

func shrink(picture []byte) []byte {
	out := picture[:0]
	for i := 0; i < len(picture); i += 2 {
		out = append(out, picture[i])
	}
	return out
}
