// Command iris takes the vouchers of a department store: iris and database/sql on
// PostgreSQL, and partners who sign in with a password.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/kataras/iris/v12"
)

type store struct {
	db     *sql.DB
	wallet *wallet
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	config, err := pgx.ParseConfig(fmt.Sprintf("postgres://shop@%s/shop?sslmode=disable", os.Getenv("ADDR_DB")))
	if err != nil {
		log.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	s := &store{db: db, wallet: &wallet{db: db}}

	app := iris.New()
	app.Logger().SetLevel("error")
	app.Get("/orders/{id:int}", s.order)
	app.Post("/vouchers/{id:int}", s.redeem)
	app.Get("/customers/{id:int}/turnover", s.turnover)
	app.Get("/offers/{id:int}", s.offer)
	partners := app.Party("/partners", newGate().check)
	partners.Get("/{id:int}/stock", s.stock)
	log.Fatal(app.Listen(os.Getenv("ADDR"), iris.WithoutStartupLog, iris.WithoutServerError(iris.ErrServerClosed)))
}

func reply(ctx iris.Context, found any, err error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		ctx.StopWithStatus(iris.StatusNotFound)
	case err != nil:
		ctx.StopWithError(iris.StatusInternalServerError, err)
	default:
		_ = ctx.JSON(found) // a client that is gone gets none
	}
}

func (s *store) order(ctx iris.Context) {
	var cents int64
	var status string
	err := s.db.QueryRowContext(ctx.Request().Context(), "select total_cents, status from orders where id = $1", ctx.Params().GetIntDefault("id", 0)).Scan(&cents, &status)
	reply(ctx, iris.Map{"cents": cents, "status": status}, err)
}

func (s *store) redeem(ctx iris.Context) {
	said, err := s.wallet.redeem(ctx.Params().GetIntDefault("id", 0))
	reply(ctx, iris.Map{"voucher": said}, err)
}

// turnover is read from slow storage.
func (s *store) turnover(ctx iris.Context) {
	var cents int64
	err := s.db.QueryRowContext(ctx.Request().Context(), "select archived_turnover($1)", ctx.Params().GetIntDefault("id", 0)).Scan(&cents)
	reply(ctx, iris.Map{"cents": cents}, err)
}

func (s *store) stock(ctx iris.Context) {
	var stock int
	err := s.db.QueryRowContext(ctx.Request().Context(), "select stock from products where id = $1", ctx.Params().GetIntDefault("id", 0)%2000).Scan(&stock)
	reply(ctx, iris.Map{"stock": stock}, err)
}

// offer waits for the next offer, which comes within five seconds.
func (s *store) offer(ctx iris.Context) {
	next, cancel := context.WithTimeout(ctx.Request().Context(), 5*time.Second)
	defer cancel()
	<-next.Done()
	reply(ctx, iris.Map{"offer": nil}, nil)
}
