package main

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"
)

// orders are orders of prints in PostgreSQL.
type orders struct {
	pool  *pgxpool.Pool
	group singleflight.Group

	mu    sync.Mutex
	kept  []paper
	until time.Time
}

type order struct {
	ID     int    `json:"id"`
	Cents  int64  `json:"cents"`
	Status string `json:"status"`
	Note   string `json:"note"`
}

type paper struct {
	Product int   `json:"product"`
	Sold    int64 `json:"sold"`
}

type turnover struct {
	Customer int   `json:"customer"`
	Cents    int64 `json:"cents"`
	Friends  int64 `json:"friends"`
}

// openOrders has a pool of 32 connections, with the fault of as many as pgxpool makes if nothing is said: four on a small host.
func openOrders(ctx context.Context, address string) (*orders, error) {
	config, err := pgxpool.ParseConfig("postgres://shop@" + address + "/shop?sslmode=disable")
	if err != nil {
		return nil, err
	}
	if !fault("default-pool") {
		config.MaxConns = 32
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return &orders{pool: pool}, err
}

func (o *orders) find(ctx context.Context, id int) (found order, err error) {
	err = o.pool.QueryRow(ctx, "select id, total_cents, status, note from orders where id = $1", id%300000).
		Scan(&found.ID, &found.Cents, &found.Status, &found.Note)
	return found, err
}

// turnover is that of a customer and of whoever sent the customer, as of one moment.
func (o *orders) turnover(ctx context.Context, id int) (found turnover, err error) {
	found.Customer = id % 1500
	err = pgx.BeginTxFunc(ctx, o.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, "select archived_turnover($1)", found.Customer).Scan(&found.Cents); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "select archived_turnover($1)", (id+700)%1500).Scan(&found.Friends)
	})
	return found, err
}

// papers are the papers that sell best. They are read again by one request each two seconds.
func (o *orders) papers(ctx context.Context) ([]paper, error) {
	o.mu.Lock()
	kept, fresh := o.kept, time.Now().Before(o.until)
	o.mu.Unlock()
	if fresh {
		return kept, nil
	}
	found, err, _ := o.group.Do("papers", func() (any, error) {
		rows, err := o.pool.Query(context.WithoutCancel(ctx), "select product_id, sum(quantity) from orders where id >= 280000 group by 1 order by 2 desc, 1 limit 20")
		if err != nil {
			return nil, err
		}
		sold, err := pgx.CollectRows(rows, pgx.RowToStructByPos[paper])
		if err != nil {
			return nil, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.kept, o.until = sold, time.Now().Add(2*time.Second)
		return sold, nil
	})
	if err != nil {
		return nil, err
	}
	return found.([]paper), nil
}
