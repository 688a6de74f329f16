// Command httprouter keeps the parking permits of a town: httprouter, sqlx and MariaDB.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/julienschmidt/httprouter"
)

// patience is how long a request may take.
const patience = 2 * time.Second

type holder struct {
	ID     int    `db:"id"`
	Name   string `db:"name"`
	Phone  string `db:"phone"`
	Street string `db:"street"`
}

type permit struct {
	ID       int    `db:"id"`
	HolderID int    `db:"holder_id"`
	Zone     int    `db:"zone"`
	Plate    string `db:"plate"`
	Cents    int    `db:"cents"`
	Holder   string `db:"holder"`
}

type office struct{ db *sqlx.DB }

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := sqlx.Open("mysql", "shop@tcp("+os.Getenv("ADDR_DB")+")/shop")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(5)
	db.SetMaxIdleConns(5)
	o := &office{db: db}
	r := httprouter.New()
	r.GET("/permits/:id", answer(o.permit))
	r.GET("/holders", answer(o.holders))
	r.GET("/zones/:id/permits", answer(o.zone))
	r.GET("/exports/:from", answer(o.export))
	r.POST("/permits/:holder", answer(o.issue))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

// answer makes a handler of a function that returns what to send.
func answer(find func(context.Context, *http.Request, httprouter.Params) (any, error)) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		found, err := find(ctx, r, p)
		if errors.Is(err, sql.ErrNoRows) {
			http.NotFound(w, r)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(found); err != nil {
			log.Print(err)
		}
	}
}

func (o *office) permit(ctx context.Context, _ *http.Request, p httprouter.Params) (any, error) {
	var one permit
	err := o.db.GetContext(ctx, &one, "select id, holder_id, zone, plate, cents from permits where id = ?", p.ByName("id"))
	return one, err
}

// holders finds people by their phone, which is kept as text.
func (o *office) holders(ctx context.Context, r *http.Request, _ httprouter.Params) (any, error) {
	var phone any = r.URL.Query().Get("phone")
	if fault("number-for-text") {
		n, err := strconv.ParseInt(r.URL.Query().Get("phone"), 10, 64)
		if err != nil {
			return nil, err
		}
		phone = n
	}
	var found []holder
	err := o.db.SelectContext(ctx, &found, "select id, name, phone, street from holders where phone = ?", phone)
	return found, err
}

// zone lists the permits of a zone with the names of their holders.
func (o *office) zone(ctx context.Context, _ *http.Request, p httprouter.Params) (any, error) {
	if fault("nested-queries") {
		return o.zoneRowByRow(ctx, p.ByName("id"))
	}
	var found []permit
	err := o.db.SelectContext(ctx, &found, `select p.id, p.holder_id, p.zone, p.plate, p.cents, h.name as holder
		from permits p join holders h on h.id = p.holder_id where p.zone = ? limit 6`, p.ByName("id"))
	return found, err
}

// zoneRowByRow asks for each holder while the rows of the permits, and their connection, are open.
func (o *office) zoneRowByRow(ctx context.Context, zone string) ([]permit, error) {
	rows, err := o.db.QueryxContext(ctx, "select id, holder_id, zone, plate, cents from permits where zone = ? limit 6", zone)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []permit
	for rows.Next() {
		var one permit
		if err := rows.StructScan(&one); err != nil {
			return nil, err
		}
		if err := o.db.GetContext(ctx, &one.Holder, "select name from holders where id = ?", one.HolderID); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// export lists 3,000 permits.
func (o *office) export(ctx context.Context, _ *http.Request, p httprouter.Params) (any, error) {
	var found []permit
	err := o.db.SelectContext(ctx, &found, "select id, holder_id, zone, plate, cents from permits where id > ? order by id limit 3000", p.ByName("from"))
	return found, err
}

func (o *office) issue(ctx context.Context, _ *http.Request, p httprouter.Params) (any, error) {
	done, err := o.db.ExecContext(ctx, "insert into permits (holder_id, zone, plate, cents) values (?, 4999, 'P-NEW', 4000)", p.ByName("holder"))
	if err != nil {
		return nil, err
	}
	return done.LastInsertId()
}
