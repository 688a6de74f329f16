// Command watermill keeps the water meters of a valley: net/http in front, Watermill behind
// it, readings in MariaDB in another zone, alarms by a text message service over HTTP.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

type valley struct {
	db  *sql.DB
	bus *bus
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", os.Getenv("ADDR_DB"), "shop", "shop"
	config.InterpolateParams = true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(24)
	db.SetMaxIdleConns(24)
	b, err := startBus(map[string]worker{"readings": &readings{db: db}, "alarms": newAlarms()})
	if err != nil {
		log.Fatal(err)
	}
	v := &valley{db: db, bus: b}
	http.HandleFunc("GET /meters/{id}", answer(v.meter))
	http.HandleFunc("POST /meters/{id}/readings", answer(v.read))
	http.HandleFunc("POST /meters/{id}/alarms", answer(v.alarm))
	http.HandleFunc("GET /levels/{id}", answer(v.level))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// answer makes a handler of a function that returns what to send.
func answer(find func(ctx context.Context, id int) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
		defer cancel()
		found, err := find(ctx, id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(found); err != nil {
			log.Print(err)
		}
	}
}

func (v *valley) meter(ctx context.Context, id int) (any, error) {
	var place string
	var litres int
	err := v.db.QueryRowContext(ctx, "select place, litres from meters where id = ?", id%5000).Scan(&place, &litres)
	return map[string]any{"place": place, "litres": litres}, err
}

// read takes what a meter has measured in two hours, one value for each minute.
func (v *valley) read(ctx context.Context, id int) (any, error) {
	values := make([]int, 120)
	for n := range values {
		values[n] = (id*7 + n*3) % 400
	}
	return v.bus.ask(ctx, "readings", order{Meter: id % 5000, Values: values})
}

func (v *valley) alarm(ctx context.Context, id int) (any, error) {
	return v.bus.ask(ctx, "alarms", order{Meter: id % 5000})
}

// level waits until the water of a gauge rises, for at most five seconds.
func (v *valley) level(ctx context.Context, id int) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	<-ctx.Done()
	return map[string]int{"gauge": id, "centimetres": 80 + id%40}, nil
}
