// Command goframe is the portal of an operator of charging stations: GoFrame with its ORM on
// PostgreSQL, its cache, and tariffs of another company over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	_ "github.com/gogf/gf/contrib/drivers/pgsql/v2"
	"github.com/gogf/gf/v2/database/gdb"
	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	host, port, err := net.SplitHostPort(os.Getenv("ADDR_DB"))
	if err != nil {
		log.Fatal(err)
	}
	db, err := gdb.New(gdb.ConfigNode{Type: "pgsql", Host: host, Port: port, User: "shop", Name: "shop", MaxOpenConnCount: 30, MaxIdleConnCount: 30})
	if err != nil {
		log.Fatal(err)
	}
	stations := &stations{db: db}
	tariffs := newTariffs(os.Getenv("ADDR_TARIFFS"))
	if err := stations.loadMap(context.Background()); err != nil {
		log.Fatal(err)
	}

	s := g.Server()
	s.SetAddr(os.Getenv("ADDR"))
	s.SetDumpRouterMap(false)
	s.SetAccessLogEnabled(false)
	s.BindHandler("GET:/health", func(r *ghttp.Request) { r.Response.Write("ok") })
	s.BindHandler("GET:/stations/{id}", answer(stations.find))
	s.BindHandler("GET:/stations/{id}/sessions", answer(stations.sessions))
	s.BindHandler("GET:/stations/{id}/tariff", answer(tariffs.find))
	s.BindHandler("GET:/days/{id}", answer(stations.day))
	s.BindHandler("GET:/maps/{id}", answer(stations.around))
	s.Run()
}

// answer makes a handler of a function that returns what to send for a number in the path.
func answer(find func(ctx context.Context, id int) (any, error)) ghttp.HandlerFunc {
	return func(r *ghttp.Request) {
		found, err := find(r.Context(), r.Get("id").Int())
		if err != nil {
			r.Response.WriteStatus(500, fmt.Sprintf("%v", err))
			return
		}
		r.Response.WriteJson(found)
	}
}
