// Command mail-merge fills letters for a mail provider (httprouter). A renderer with its
// parsed templates is costly, so two are kept in a pool (puddle). pprof on its own port.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"text/template"

	"github.com/jackc/puddle/v2"
	"github.com/julienschmidt/httprouter"
)

const letter = `Dear {{.Name}},
{{range .Lines}}{{.Count}} × {{.Article}} at {{printf "%.2f" .Price}}
{{end}}Yours, the shop`

type line struct {
	Count   int
	Article string
	Price   float64
}

type renderer struct {
	template *template.Template
	cache    map[string][]*line // what was said to whom, for the archive
}

var renderers *puddle.Pool[*renderer]

func main() {
	var err error
	renderers, err = puddle.NewPool(&puddle.Config[*renderer]{MaxSize: 2, Constructor: newRenderer})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		renderers.CreateResource(context.Background())
	}
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	router := httprouter.New()
	router.GET("/letter/:name", merge)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}

func newRenderer(context.Context) (*renderer, error) {
	r := &renderer{template: template.Must(template.New("letter").Parse(letter)), cache: map[string][]*line{}}
	for n := range 18_000 {
		name := fmt.Sprint("reader ", n)
		for i := range 10 {
			r.cache[name] = append(r.cache[name], &line{i, fmt.Sprint("article ", i), float64(n)})
		}
	}
	return r, nil
}

func merge(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	resource, err := renderers.Acquire(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer resource.Release()
	var lines []line
	for i := range 350 {
		lines = append(lines, line{i, fmt.Sprint("article ", i), 9.95})
	}
	var out bytes.Buffer
	if err := resource.Value().template.Execute(&out, map[string]any{"Name": p.ByName("name"), "Lines": lines}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(out.Bytes())
}
