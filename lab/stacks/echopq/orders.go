package main

import (
	"context"
	"database/sql"
	"time"

	_ "github.com/lib/pq"
)

// orders are what cafés have ordered, in PostgreSQL.
type orders struct{ db *sql.DB }

type order struct {
	ID     int    `json:"id"`
	Bread  string `json:"bread,omitempty"`
	Cents  int64  `json:"cents"`
	Status string `json:"status"`
}

type month struct {
	Month string `json:"month"`
	Cents int64  `json:"cents"`
}

func openOrders(address string) (*orders, error) {
	db, err := sql.Open("postgres", "postgres://shop@"+address+"/shop?sslmode=disable")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(24)
	db.SetMaxIdleConns(24)
	return &orders{db: db}, db.Ping()
}

func (o *orders) find(ctx context.Context, id int) (found order, err error) {
	row := o.db.QueryRowContext(ctx, "select id, total_cents, status from orders where id = $1", id%300000)
	return found, row.Scan(&found.ID, &found.Cents, &found.Status)
}

func (o *orders) ofCafe(ctx context.Context, cafe int) (found []order, err error) {
	rows, err := o.db.QueryContext(ctx, "select o.id, p.name, o.total_cents, o.status from orders o join products p on p.id = o.product_id where o.customer_id = $1 order by o.id desc limit 30", cafe%1500)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one order
		if err := rows.Scan(&one.ID, &one.Bread, &one.Cents, &one.Status); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// patience is how long a query for the books may take, whatever becomes of the request that needs it.
const patience = 6 * time.Second

// largeOrder is the number of cents from which an order has a line of its own in the books.
const largeOrder = 10_000

// lastLarge returns the last large order of a café, for the books. With the fault it leaves the rows open, which keep
// their connection until the patience with the query ends.
func (o *orders) lastLarge(_ context.Context, cafe int) (found order, err error) {
	rows, err := o.db.QueryContext(within(patience), "select id, total_cents, status from orders where customer_id = $1 order by id desc", cafe%1500)
	if err != nil {
		return found, err
	}
	if !fault("rows-left-open") {
		defer rows.Close()
	}
	for rows.Next() {
		if err := rows.Scan(&found.ID, &found.Cents, &found.Status); err != nil {
			return found, err
		}
		if found.Cents >= largeOrder {
			return found, nil
		}
	}
	return found, rows.Err()
}

// within returns a context that ends after a time.
func within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// months returns the turnover of each month, from all orders.
func (o *orders) months(ctx context.Context, _ int) (found []month, err error) {
	rows, err := o.db.QueryContext(ctx, "select to_char(placed_at, 'YYYY-MM'), sum(total_cents)::bigint from orders group by 1 order by 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one month
		if err := rows.Scan(&one.Month, &one.Cents); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}
