// Command gozero keeps the parcel lockers of a city: go-zero, its sqlx on MariaDB, and tariffs and
// couriers over HTTP.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/zeromicro/go-zero/core/conf"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/sqlx"
	"github.com/zeromicro/go-zero/rest"
	"github.com/zeromicro/go-zero/rest/httpx"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

// lockers is the service.
type lockers struct {
	db       sqlx.SqlConn
	openings *openings
	tariffs  *tariffs
	couriers *couriers
}

func main() {
	host, port, err := net.SplitHostPort(os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	logx.MustSetup(logx.LogConf{ServiceName: "lockers", Level: "error", Stat: false})
	var c rest.RestConf
	text := fmt.Sprintf("Name: lockers\nHost: %s\nPort: %s\nTimeout: 20000\nCpuThreshold: 0\nLog:\n  Level: error\n  Stat: false\n", host, port)
	if err := conf.LoadFromYamlBytes([]byte(text), &c); err != nil {
		log.Fatal(err)
	}
	db := sqlx.NewMysql("shop@tcp(" + os.Getenv("ADDR_DB") + ")/shop")
	l := &lockers{db: db, openings: newOpenings(db), tariffs: newTariffs(), couriers: newCouriers()}
	server := rest.MustNewServer(c)
	defer server.Stop()
	server.AddRoutes([]rest.Route{
		{Method: http.MethodGet, Path: "/lockers/:id", Handler: answer(l.locker)},
		{Method: http.MethodPost, Path: "/lockers/:id/openings", Handler: answer(l.open)},
		{Method: http.MethodGet, Path: "/districts/:id/tariff", Handler: answer(l.tariff)},
		{Method: http.MethodPost, Path: "/parcels/:id/courier", Handler: answer(l.courier)},
	})
	server.Start()
}

// answer makes a handler of a function that returns what to send for a number in the path.
func answer(find func(ctx context.Context, id int) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID int `path:"id"`
		}
		if err := httpx.ParsePath(r, &in); err != nil {
			httpx.ErrorCtx(r.Context(), w, err)
			return
		}
		found, err := find(r.Context(), in.ID)
		if err != nil {
			httpx.WriteJsonCtx(r.Context(), w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
			return
		}
		httpx.OkJsonCtx(r.Context(), w, found)
	}
}

type locker struct {
	ID       int    `db:"id" json:"id"`
	District int    `db:"district" json:"district"`
	Street   string `db:"street" json:"street"`
	Boxes    int    `db:"boxes" json:"boxes"`
}

func (l *lockers) locker(ctx context.Context, id int) (any, error) {
	var found locker
	err := l.db.QueryRowCtx(ctx, &found, "select id, district, street, boxes from lockers where id = ?", id)
	return found, err
}

func (l *lockers) open(ctx context.Context, id int) (any, error) {
	code, err := l.openings.store(ctx, id)
	return map[string]int{"locker": id, "code": code}, err
}

func (l *lockers) tariff(ctx context.Context, district int) (any, error) {
	return l.tariffs.of(strconv.Itoa(district))
}

func (l *lockers) courier(ctx context.Context, parcel int) (any, error) {
	return l.couriers.call(parcel)
}

// companies keeps connections to other companies open.
var companies = &http.Client{
	Timeout:   15 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
}

type receipt struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

func ask(address, path string) (r receipt, err error) {
	res, err := companies.Get("http://" + address + path)
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	return r, json.NewDecoder(res.Body).Decode(&r)
}
