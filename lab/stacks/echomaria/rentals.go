package main

import (
	"context"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"
)

// rentals reads and writes the tables of orders and products, which are rentals and games.
type rentals struct {
	db    *sqlx.DB
	cards *cards
}

type rental struct {
	ID    int   `db:"id" json:"id"`
	Club  int   `db:"customer_id" json:"club"`
	Game  int   `db:"product_id" json:"game"`
	Cents int64 `db:"total_cents" json:"cents"`
}

func openRentals(address string, cards *cards) (*rentals, error) {
	db, err := sqlx.Connect("mysql", "shop@tcp("+address+")/shop?interpolateParams=true")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(40)
	if !fault("two-idle") { // database/sql keeps two connections that nobody uses, else
		db.SetMaxIdleConns(40)
	}
	db.SetConnMaxIdleTime(5 * time.Minute)
	return &rentals{db: db, cards: cards}, nil
}

func (r *rentals) find(ctx context.Context, id int) (one rental, err error) {
	err = r.db.GetContext(ctx, &one, "select id, customer_id, product_id, total_cents from orders where id = ?", id%300000)
	return one, err
}

func (r *rentals) ofClub(ctx context.Context, id int) (found []rental, err error) {
	err = r.db.SelectContext(ctx, &found, "select id, customer_id, product_id, total_cents from orders where customer_id = ? order by id desc limit 30", id%1500)
	return found, err
}

// page returns what the page of a club shows: six of its rentals, which are looked up at once.
func (r *rentals) page(ctx context.Context, id int) (found [6]rental, err error) {
	group, ctx := errgroup.WithContext(ctx)
	for n := range found {
		group.Go(func() (err error) {
			found[n], err = r.find(ctx, id*7+n*1500)
			return err
		})
	}
	err = group.Wait()
	return found, err
}

type rented struct {
	Game    int    `json:"game"`
	Left    int    `json:"left"`
	Receipt string `json:"receipt"`
}

// rent takes a game off the shelf, most often the game of the year, and has the card of the club charged: before the
// transaction, or in it with the fault.
func (r *rentals) rent(ctx context.Context, id int) (done rented, err error) {
	game := id % 1000
	if id%4 != 0 {
		game = 17
	}
	charge := func() (err error) {
		done.Receipt, err = r.cards.charge(ctx, id)
		return err
	}
	if !fault("charge-in-transaction") {
		if err := charge(); err != nil {
			return done, err
		}
		charge = func() error { return nil }
	}
	tx, err := r.db.BeginTxx(ctx, nil)
	if err != nil {
		return done, err
	}
	defer tx.Rollback() // says an error when it was committed
	if _, err := tx.ExecContext(ctx, "update products set stock = stock - 1 where id = ?", game); err != nil {
		return done, err
	}
	if err := charge(); err != nil {
		return done, err
	}
	if err := tx.GetContext(ctx, &done.Left, "select stock from products where id = ?", game); err != nil {
		return done, err
	}
	done.Game = game
	return done, tx.Commit()
}

type sum struct {
	ID    int   `db:"id" json:"id"`
	Cents int64 `db:"cents" json:"cents"`
}

// bestClubs adds up what each club has paid, from all rentals.
func (r *rentals) bestClubs(ctx context.Context, _ int) (best []sum, err error) {
	err = r.db.SelectContext(ctx, &best, "select customer_id as id, sum(total_cents) as cents from orders group by customer_id order by cents desc limit 10")
	return best, err
}

// games adds up what each game has brought, from all rentals.
func (r *rentals) games(ctx context.Context) (all []sum, err error) {
	err = r.db.SelectContext(ctx, &all, "select product_id as id, sum(total_cents) as cents from orders group by product_id order by cents desc")
	return all, err
}
