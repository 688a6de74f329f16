// Command lighthouse-log says which light a ship sees. Each request is logged as JSON, and
// the lines go to a collector over TCP.
package main

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"
)

var lights = map[string]string{"kullen": "Fl W 5s 27M", "fastnet": "Fl W 5s 18M", "ushant": "Fl(2) W 10s 32M"}

func main() {
	conn, err := net.Dial("tcp", os.Getenv("ADDR_COLLECTOR"))
	if err != nil {
		log.Fatal(err)
	}
	conn.(*net.TCPConn).SetWriteBuffer(8 << 10)
	logger := slog.New(slog.NewJSONHandler(conn, &slog.HandlerOptions{AddSource: true}))
	http.HandleFunc("GET /light/{name}", func(w http.ResponseWriter, r *http.Request) {
		logger.Info("asked", about(r)...)
		light, ok := lights[r.PathValue("name")]
		if !ok {
			logger.Warn("not on the chart", about(r)...)
			http.NotFound(w, r)
			return
		}
		sector := strings.Fields(light)
		logger.Info("found", append(about(r), "light", light, "sector", sector)...)
		fmt.Fprintln(w, light)
		logger.Info("answered", append(about(r), "bytes", len(light)+1)...)
	})
	http.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "lit\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func about(r *http.Request) []any {
	return []any{
		slog.Group("request", "method", r.Method, "path", r.URL.Path, "query", r.URL.Query(), "remote", r.RemoteAddr,
			"agent", r.UserAgent(), "host", r.Host, "header", r.Header),
		"service", "lighthouse-log", "version", "7.1.3", "region", "north-west approaches", "note", strings.Repeat("-", 200),
	}
}
