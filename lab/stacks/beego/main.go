// Command beego takes the orders of a garden centre: beego, sqlx and lib/pq on PostgreSQL,
// and the price list of a wholesaler over HTTP.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/beego/beego/v2/core/logs"
	"github.com/beego/beego/v2/server/web"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := sqlx.Connect("postgres", fmt.Sprintf("postgres://shop@%s/shop?sslmode=disable", os.Getenv("ADDR_DB")))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	prices := newPriceList(os.Getenv("ADDR_WHOLESALER"))
	if err := prices.refresh(); err != nil {
		log.Fatal(err)
	}
	go prices.keep(2 * time.Second)

	host, port, err := net.SplitHostPort(os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	web.BConfig.RunMode = web.PROD
	web.BConfig.WebConfig.AutoRender = false
	web.BConfig.Listen.HTTPAddr = host
	if web.BConfig.Listen.HTTPPort, err = strconv.Atoi(port); err != nil {
		log.Fatal(err)
	}
	logs.SetLevel(logs.LevelError)
	web.Router("/orders/:id:int", &OrderController{DB: db}, "get:Show;post:Pay")
	web.Router("/archive/:page:int", &OrderController{DB: db}, "get:Page")
	web.Router("/plants/:id:int", &PlantController{Prices: prices}, "get:Show")
	web.Router("/deliveries/:id:int", &PlantController{Prices: prices}, "get:Wait")
	web.Run()
}

// base answers with JSON.
type base struct{ web.Controller }

func (c *base) reply(found any, err error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		c.Ctx.Output.SetStatus(http.StatusNotFound)
	case err != nil:
		logs.Error(err)
		c.Ctx.Output.SetStatus(http.StatusInternalServerError)
	default:
		c.Data["json"] = found
		_ = c.ServeJSON() // a client that is gone gets none
	}
}

func (c *base) number(name string) int {
	n, _ := strconv.Atoi(c.Ctx.Input.Param(name)) // the route takes digits alone
	return n
}
