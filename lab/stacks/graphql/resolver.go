package main

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// resolver answers the queries of the schema.
type resolver struct {
	db    *pgxpool.Pool
	rates *rates
}

type byID struct{ ID int32 }

type customer struct {
	id   int32
	name string
	db   *pgxpool.Pool
}

func (r *resolver) Customer(ctx context.Context, args byID) (*customer, error) {
	c := customer{id: args.ID, db: r.db}
	err := r.db.QueryRow(ctx, "select name from customers where id = $1", args.ID).Scan(&c.name)
	return &c, err
}

func (c *customer) ID() int32    { return c.id }
func (c *customer) Name() string { return c.name }

func (c *customer) Orders(ctx context.Context) ([]*order, error) {
	rows, err := c.db.Query(ctx, "select id, quantity, note, product_id from orders where customer_id = $1", c.id)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*order, error) {
		var o order
		err := row.Scan(&o.id, &o.quantity, &o.note, &o.productID)
		return &o, err
	})
	if err != nil {
		return nil, err
	}
	if !fault("resolver-queries") {
		err = loaderOf(ctx).loadAll(ctx, all)
	}
	return all, err
}

func (r *resolver) Order(ctx context.Context, args byID) (*order, error) {
	o := order{id: args.ID}
	err := r.db.QueryRow(ctx, "select quantity, note, product_id from orders where id = $1", args.ID).Scan(&o.quantity, &o.note, &o.productID)
	return &o, err
}

type order struct {
	id, quantity, productID int32
	note                    string
}

func (o *order) ID() int32       { return o.id }
func (o *order) Quantity() int32 { return o.quantity }
func (o *order) Note() string    { return o.note }

func (o *order) Product(ctx context.Context) (*product, error) {
	return loaderOf(ctx).load(ctx, o.productID)
}

type product struct {
	id, cents int32
	name      string
}

func (p *product) ID() int32    { return p.id }
func (p *product) Name() string { return p.name }
func (p *product) Cents() int32 { return p.cents }

type price struct {
	product *product
	rate    float64
}

func (r *resolver) Price(ctx context.Context, args byID) (*price, error) {
	p, err := loaderOf(ctx).load(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	return &price{product: p, rate: r.rates.perEuro()}, nil
}

func (p *price) Product() *product { return p.product }
func (p *price) Euros() float64    { return float64(p.product.cents) / p.rate }
func (p *price) Currency() string  { return "EUR" }

// productLoader reads the products that one request needs.
type productLoader struct {
	db    *pgxpool.Pool
	mu    sync.Mutex
	known map[int32]*product
}

type loaderKey struct{}

func loaderOf(ctx context.Context) *productLoader {
	l, _ := ctx.Value(loaderKey{}).(*productLoader)
	return l
}

// loadAll reads the products of orders by one query.
func (l *productLoader) loadAll(ctx context.Context, orders []*order) error {
	ids := make([]int32, len(orders))
	for i, o := range orders {
		ids[i] = o.productID
	}
	rows, err := l.db.Query(ctx, "select id, name, price_cents from products where id = any($1)", ids)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, scanProduct)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range all {
		l.known[p.id] = p
	}
	return err
}

// load returns a product, which it reads unless it is known.
func (l *productLoader) load(ctx context.Context, id int32) (*product, error) {
	l.mu.Lock()
	p := l.known[id]
	l.mu.Unlock()
	if p != nil {
		return p, nil
	}
	rows, err := l.db.Query(ctx, "select id, name, price_cents from products where id = $1", id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, scanProduct)
}

func scanProduct(row pgx.CollectableRow) (*product, error) {
	var p product
	err := row.Scan(&p.id, &p.name, &p.cents)
	return &p, err
}
