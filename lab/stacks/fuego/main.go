// Command fuego serves the spare parts of a bicycle maker: Fuego, squirrel and database/sql on
// PostgreSQL, which is in another zone, and a customs broker over HTTP.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/Masterminds/squirrel"
	"github.com/go-fuego/fuego"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

type parts struct {
	sql    squirrel.StatementBuilderType
	broker *http.Client
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	config, err := pgx.ParseConfig(fmt.Sprintf("postgres://shop@%s/shop?sslmode=disable", os.Getenv("ADDR_DB")))
	if err != nil {
		log.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	p := &parts{
		sql:    squirrel.StatementBuilder.PlaceholderFormat(squirrel.Dollar).RunWith(squirrel.NewStmtCache(db)),
		broker: newBrokerClient(),
	}
	s := fuego.NewServer(
		fuego.WithAddr(os.Getenv("ADDR")),
		fuego.WithoutStartupMessages(),
		fuego.WithoutLogger(),
		fuego.WithEngineOptions(fuego.WithOpenAPIConfig(fuego.OpenAPIConfig{Disabled: true, DisableLocalSave: true, DisableSwaggerUI: true, DisableMessages: true})),
	)
	fuego.Get(s, "/orders/{id}", p.order)
	fuego.Get(s, "/dealers/{id}/orders", p.ofDealer)
	fuego.Get(s, "/duties/{id}", p.duty)
	log.Fatal(s.Run())
}

// newBrokerClient asks the broker again when he fails.
func newBrokerClient() *http.Client {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.HTTPClient.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	client.HTTPClient.Timeout = 10 * time.Second
	client.RetryMax = 2
	if fault("retry-storm") {
		client.HTTPClient.Timeout = 250 * time.Millisecond
		client.RetryMax = 4
		client.Backoff = func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }
	}
	return client.StandardClient()
}

type order struct {
	Order  int    `json:"order"`
	Part   string `json:"part,omitempty"`
	Cents  int64  `json:"cents"`
	Status string `json:"status,omitempty"`
	part   int
}

func (p *parts) order(c fuego.ContextNoBody) (o order, err error) {
	o.Order = c.PathParamInt("id")
	err = p.sql.Select("total_cents", "status").From("orders").Where(squirrel.Eq{"id": o.Order}).QueryRowContext(c.Context()).Scan(&o.Cents, &o.Status)
	if err == sql.ErrNoRows {
		return o, fuego.NotFoundError{Err: err}
	}
	return o, err
}

type duty struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

func (p *parts) duty(c fuego.ContextNoBody) (d duty, err error) {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://"+os.Getenv("ADDR_BROKER")+"/duties/"+c.PathParam("id"), nil)
	if err != nil {
		return d, err
	}
	response, err := p.broker.Do(request)
	if err != nil {
		return d, err
	}
	defer response.Body.Close()
	return d, json.NewDecoder(response.Body).Decode(&d)
}

func (p *parts) ofDealer(c fuego.ContextNoBody) ([]order, error) {
	return p.dealerOrders(c.Context(), c.PathParamInt("id"))
}

func (p *parts) dealerOrders(ctx context.Context, dealer int) ([]order, error) {
	rows, err := p.sql.Select("id", "total_cents", "product_id").From("orders").Where(squirrel.Eq{"customer_id": dealer}).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var orders []order
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.Order, &o.Cents, &o.part); err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close()
	if fault("fan-out") {
		return orders, p.nameEach(ctx, orders)
	}
	return orders, p.nameAll(ctx, orders)
}
