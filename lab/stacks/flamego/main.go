// Command flamego takes reservations of tables for restaurants: Flamego, xorm on MariaDB, waiting
// lists in Redis by redigo, a directory and a sender of text messages over HTTP.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/flamego/flamego"
	_ "github.com/go-sql-driver/mysql"
	"xorm.io/xorm"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	engine, err := xorm.NewEngine("mysql", "shop@tcp("+os.Getenv("ADDR_DB")+")/shop?parseTime=true")
	if err != nil {
		log.Fatal(err)
	}
	engine.SetMaxOpenConns(40)
	engine.SetMaxIdleConns(40)
	tables := &tables{engine: engine}
	lists := newLists(os.Getenv("ADDR_REDIS"))
	if err := lists.fill(); err != nil {
		log.Fatal(err)
	}
	messages, err := newMessages(os.Getenv("ADDR_SENDER"))
	if err != nil {
		log.Fatal(err)
	}
	directory := &directory{engine: engine, url: "http://" + os.Getenv("ADDR_DIRECTORY")}
	go directory.follow(popular)

	f := flamego.NewWithLogger(os.Stderr)
	f.Use(flamego.Recovery(), flamego.Renderer())
	f.Get("/restaurants/{id}", func(c flamego.Context, render flamego.Render) {
		found, err := tables.restaurant(c.Request().Context(), restaurant(c))
		respond(render, found, err)
	})
	f.Post("/restaurants/{id}/reservations", func(c flamego.Context, render flamego.Render) {
		made, err := tables.reserve(c.Request().Context(), restaurant(c))
		respond(render, made, err)
	})
	f.Post("/restaurants/{id}/messages", func(c flamego.Context, render flamego.Render) {
		sent, err := messages.send(c.Request().Context(), restaurant(c))
		respond(render, sent, err)
	})
	f.Get("/restaurants/{id}/waiting", func(c flamego.Context, render flamego.Render) {
		found, err := lists.waiting(restaurant(c))
		respond(render, found, err)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), f))
}

func restaurant(c flamego.Context) int { return c.ParamInt("id") % restaurants }

func respond(render flamego.Render, found any, err error) {
	if err != nil {
		render.PlainText(http.StatusInternalServerError, err.Error())
		return
	}
	render.JSON(http.StatusOK, found)
}
