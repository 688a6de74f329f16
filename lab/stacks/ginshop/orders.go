package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// orders are orders of flowers in PostgreSQL, those that were asked for kept in Redis.
type orders struct {
	db    *sqlx.DB
	cache *redis.Client
}

type order struct {
	ID       int    `db:"id" json:"id"`
	Cents    int64  `db:"total_cents" json:"cents"`
	Status   string `db:"status" json:"status"`
	Flower   string `db:"flower" json:"flower,omitempty"`
	Customer string `db:"customer" json:"customer,omitempty"`
}

type customer struct {
	ID   int    `db:"id" json:"id"`
	Name string `db:"name" json:"name"`
	City string `db:"city" json:"city"`
}

type city struct {
	City  string `db:"city" json:"city"`
	Cents int64  `db:"cents" json:"cents"`
}

func openOrders(address string, cache *redis.Client) (*orders, error) {
	db, err := sqlx.Connect("pgx", "postgres://shop@"+address+"/shop?sslmode=disable")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	return &orders{db: db, cache: cache}, nil
}

func (o *orders) find(ctx context.Context, id int) (found order, err error) {
	key := "order:" + strconv.Itoa(id%300000)
	kept, err := o.cache.Get(ctx, key).Bytes()
	if err == nil {
		return found, json.Unmarshal(kept, &found)
	}
	if !errors.Is(err, redis.Nil) {
		return found, err
	}
	if err := o.db.GetContext(ctx, &found, "select id, total_cents, status from orders where id = $1", id%300000); err != nil {
		return found, err
	}
	if kept, err = json.Marshal(found); err != nil {
		return found, err
	}
	return found, o.cache.Set(ctx, key, kept, 5*time.Minute).Err()
}

func (o *orders) customer(ctx context.Context, id int) (found customer, err error) {
	return found, o.db.GetContext(ctx, &found, "select id, name, city from customers where id = $1", id%1500)
}

const branchesOfChain = 40

// branches returns what each of the 40 branches of a chain has bought; with the fault by a query for each, which are
// read from slow storage in 20 ms, all at once.
func (o *orders) branches(ctx context.Context, chain int) (map[int]int64, error) {
	first := chain * branchesOfChain % 1400
	sums := make([]int64, branchesOfChain)
	if fault("branches-at-once") {
		group, ctx := errgroup.WithContext(ctx)
		for n := range sums {
			group.Go(func() error { return o.db.GetContext(ctx, &sums[n], "select archived_turnover($1)", first+n) })
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
	} else {
		const query = "select coalesce(sum(o.total_cents), 0) from customers c left join orders o on o.customer_id = c.id where c.id >= $1 and c.id < $2 group by c.id order by c.id"
		if err := o.db.SelectContext(ctx, &sums, query, first, first+branchesOfChain); err != nil {
			return nil, err
		}
	}
	found := make(map[int]int64, len(sums))
	for n, sum := range sums {
		found[first+n] = sum
	}
	return found, nil
}

// history returns a page of 50 orders of all, the newest first; with the fault it skips those of the pages before.
func (o *orders) history(ctx context.Context, page int) (found []order, err error) {
	const size, newest = 50, 299999
	columns := "select o.id, o.total_cents, o.status, p.name as flower, c.name as customer from orders o join products p on p.id = o.product_id join customers c on c.id = o.customer_id "
	skipped := page % 6000 * size
	if fault("pages-by-offset") {
		return found, o.db.SelectContext(ctx, &found, columns+"order by o.id desc limit $1 offset $2", size, skipped)
	}
	return found, o.db.SelectContext(ctx, &found, columns+"where o.id <= $2 order by o.id desc limit $1", size, newest-skipped)
}

// cities returns the turnover of each city for the monthly report, from all orders.
func (o *orders) cities(ctx context.Context) (found []city, err error) {
	return found, o.db.SelectContext(ctx, &found, "select c.city, sum(o.total_cents) as cents from orders o join customers c on c.id = o.customer_id group by c.city")
}
