package main

import (
	"context"
	"database/sql"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// parcels reads the table of orders.
type parcels struct {
	db                                  *sql.DB
	byID, byCustomer, productByID, sums *sql.Stmt
}

type parcel struct {
	ID      int    `json:"id"`
	Product int    `json:"product"`
	Cents   int64  `json:"cents"`
	Status  string `json:"status"`
}

const (
	selectParcel   = "select id, product_id, total_cents, status from orders where id = $1"
	selectCustomer = "select id, product_id, total_cents, status from orders where customer_id = $1 order by id desc limit 30"
	selectProduct  = "select name from products where id = $1"
	selectSums     = "select product_id, sum(total_cents)::bigint as cents from orders group by product_id order by cents desc limit 10"
)

func openParcels(ctx context.Context, address string) (*parcels, error) {
	// Statements are prepared here, by database/sql, and not by pgx.
	db, err := sql.Open("pgx", "postgres://shop@"+address+"/shop?sslmode=disable&default_query_exec_mode=exec")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	p := &parcels{db: db}
	for statement, text := range map[**sql.Stmt]string{&p.byID: selectParcel, &p.byCustomer: selectCustomer, &p.productByID: selectProduct, &p.sums: selectSums} {
		if *statement, err = db.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *parcels) find(ctx context.Context, id int) (parcel, error) {
	return readParcel(p.byID.QueryRowContext(ctx, id%300000))
}

func readParcel(row *sql.Row) (one parcel, err error) {
	err = row.Scan(&one.ID, &one.Product, &one.Cents, &one.Status)
	return one, err
}

// scan looks up what a scanner has read: the parcel, its product, and the parcels of the customer. With the fault a
// transaction reads them, and each of its statements is prepared for one use.
func (p *parcels) scan(ctx context.Context, id int) (scanned struct {
	Parcel  parcel
	Product string
	Others  int
}, err error) {
	byID, product, byCustomer := p.byID, p.productByID, p.byCustomer
	if fault("prepare-each") {
		tx, err := p.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return scanned, err
		}
		defer tx.Rollback() // says an error when the context is over
		for statement, text := range map[**sql.Stmt]string{&byID: selectParcel, &product: selectProduct, &byCustomer: selectCustomer} {
			if *statement, err = tx.PrepareContext(ctx, text); err != nil {
				return scanned, err
			}
			defer (*statement).Close()
		}
	}
	if scanned.Parcel, err = readParcel(byID.QueryRowContext(ctx, id%300000)); err != nil {
		return scanned, err
	}
	if err = product.QueryRowContext(ctx, scanned.Parcel.Product).Scan(&scanned.Product); err != nil {
		return scanned, err
	}
	rows, err := byCustomer.QueryContext(ctx, id%1500)
	if err != nil {
		return scanned, err
	}
	defer rows.Close()
	for rows.Next() {
		scanned.Others++
	}
	return scanned, rows.Err()
}

func (p *parcels) ofCustomer(ctx context.Context, id int) ([]parcel, error) {
	rows, err := p.byCustomer.QueryContext(ctx, id%1500)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []parcel
	for rows.Next() {
		var one parcel
		if err := rows.Scan(&one.ID, &one.Product, &one.Cents, &one.Status); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// turnover adds up what each product has brought, from all orders: the ten best.
func (p *parcels) turnover(ctx context.Context, _ int) (map[int]int64, error) {
	rows, err := p.sums.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := make(map[int]int64)
	for rows.Next() {
		var product int
		var cents int64
		if err := rows.Scan(&product, &cents); err != nil {
			return nil, err
		}
		best[product] = cents
	}
	return best, rows.Err()
}
