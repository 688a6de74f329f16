// Command fasthttp serves the charging points of a city: fasthttp, points in memory, prices
// of power over HTTP, a line for each request on standard output.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

type city struct {
	points *points
	power  *fasthttp.HostClient
	access *log.Logger
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	c := &city{
		points: fillPoints(),
		power:  &fasthttp.HostClient{Addr: os.Getenv("ADDR_POWER"), MaxConns: 128, ReadTimeout: 20 * time.Second},
		access: log.New(os.Stdout, "", log.LstdFlags|log.Lmicroseconds),
	}
	server := &fasthttp.Server{Handler: c.logged(c.route), Name: "charging"}
	log.Fatal(server.ListenAndServe(os.Getenv("ADDR")))
}

// logged writes a line for each request when it has been answered. Its fields are those that
// the operator's search needs.
func (c *city) logged(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		next(ctx)
		line, err := json.Marshal(map[string]any{
			"method": string(ctx.Method()), "path": string(ctx.Path()), "status": ctx.Response.StatusCode(),
			"took": time.Since(ctx.Time()).String(), "bytes": len(ctx.Response.Body()), "from": ctx.RemoteAddr().String(),
			"request": ctx.Request.Header.String(), "response": ctx.Response.Header.String(),
			"labels": strings.Repeat("zone=eu-3,app=charging,tier=edge;", 10),
		})
		if err != nil {
			log.Print(err)
			return
		}
		c.access.Printf("%s", line)
	}
}

func (c *city) route(ctx *fasthttp.RequestCtx) {
	parts := strings.Split(strings.Trim(string(ctx.Path()), "/"), "/")
	if len(parts) != 2 {
		ctx.Error("no such page", fasthttp.StatusNotFound)
		return
	}
	id, err := strconv.Atoi(parts[1])
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	ctx.SetContentType("application/json")
	switch parts[0] {
	case "points":
		reply(ctx, c.points.find(id), nil)
	case "curves":
		reply(ctx, c.points.curve(id), nil)
	case "prices":
		price, err := c.price(id)
		reply(ctx, price, err)
	case "free":
		// A driver who waits for a free point is told so within five seconds.
		time.Sleep(5 * time.Second)
		reply(ctx, map[string]int{"point": id % pointCount}, nil)
	default:
		ctx.Error("no such page", fasthttp.StatusNotFound)
	}
}

func reply(ctx *fasthttp.RequestCtx, found any, err error) {
	if err == nil {
		err = json.NewEncoder(ctx).Encode(found)
	}
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
	}
}

// price asks the power company what a kilowatt-hour costs at a point now.
func (c *city) price(id int) (map[string]string, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(fmt.Sprintf("http://%s/prices/%d", os.Getenv("ADDR_POWER"), id))
	if err := c.power.DoTimeout(request, response, 20*time.Second); err != nil {
		return nil, err
	}
	return map[string]string{"price": string(response.Body())}, nil
}
