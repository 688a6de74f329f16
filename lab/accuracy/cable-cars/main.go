// Command cable-cars says which cabins of a cable car are free. Somebody has put
// netutil.LimitListener before the server, so that no more than eight visitors are let in at
// once; each visitor's tablet opens a connection, asks the winch house and hangs up.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"golang.org/x/net/netutil"
)

const visitors = 8

type winch struct{ addr string }

// position asks the winch house where a cabin is.
func (w winch) position(ctx context.Context, cabin string) (string, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	fmt.Fprintf(conn, "GET %s\n", cabin)
	return bufio.NewReader(conn).ReadString('\n')
}

func main() {
	house := winch{os.Getenv("ADDR_WINCH")}
	mux := http.DefaultServeMux
	mux.HandleFunc("GET /cabin/{number}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		at, err := house.position(ctx, r.PathValue("number"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, "cabin ", r.PathValue("number"), " at ", at)
	})
	door, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
	if os.Getenv("FAULT") != "0" {
		door = netutil.LimitListener(door, visitors)
	}
	slog.Error("serve", "err", http.Serve(door, mux))
}
