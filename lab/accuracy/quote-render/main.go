// Command quote-render renders quotes as HTML and compresses them (gin).
package main

import (
	"compress/gzip"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/gin-gonic/gin"
)

var page = template.Must(template.New("quote").Parse(`<html><h1>Quote for {{.For}}</h1><table>
{{range $i, $l := .Lines}}<tr class="{{if lt $i 3}}top{{end}}"><td>{{$l.Name}}</td><td>{{printf "%8.2f" $l.Price}}</td></tr>
{{end}}</table></html>`))

type line struct {
	Name  string
	Price float64
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	count := 680
	if os.Getenv("FAULT") == "0" {
		count = 100
	}
	engine := gin.New()
	engine.Use(gin.Recovery())
	engine.GET("/quote/:customer", func(c *gin.Context) {
		lines := make([]line, count)
		for i := range lines {
			lines[i] = line{fmt.Sprintf("screw <M%d>", i), float64(i) * 0.07}
		}
		c.Header("Content-Encoding", "gzip")
		out := gzip.NewWriter(c.Writer)
		defer out.Close()
		page.Execute(out, map[string]any{"For": c.Param("customer"), "Lines": lines})
	})
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	log.Fatal(engine.Run(os.Getenv("ADDR")))
}
