package main

import (
	"context"
	"net/http"

	"github.com/go-pg/pg/v10"
)

// ticketDesk sells tickets. The tax office wants the numbers of payments without a gap, so that they are given out one by one,
// under an advisory lock.
type ticketDesk struct {
	db   *pg.DB
	bank remote
}

type sold struct {
	Number  int64  `json:"number"`
	Receipt string `json:"receipt"`
}

const numbering = 7

func (d *ticketDesk) sell(r *http.Request, id int) (any, error) {
	if fault("advisory-lock") {
		var s sold
		err := d.db.RunInTransaction(r.Context(), func(tx *pg.Tx) error {
			if _, err := tx.Exec("select pg_advisory_xact_lock(?)", numbering); err != nil {
				return err
			}
			paid, err := d.bank.ask(r.Context(), id)
			if err != nil {
				return err
			}
			s, err = insertPayment(tx, id, paid)
			return err
		})
		return s, err
	}
	paid, err := d.bank.ask(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return d.number(r.Context(), id, paid)
}

// number gives a number to what was paid.
func (d *ticketDesk) number(ctx context.Context, id int, paid receipt) (s sold, err error) {
	err = d.db.RunInTransaction(ctx, func(tx *pg.Tx) error {
		if _, err := tx.Exec("select pg_advisory_xact_lock(?)", numbering); err != nil {
			return err
		}
		s, err = insertPayment(tx, id, paid)
		return err
	})
	return s, err
}

func insertPayment(tx *pg.Tx, id int, paid receipt) (sold, error) {
	s := sold{Receipt: paid.Receipt}
	_, err := tx.QueryOne(pg.Scan(&s.Number), "insert into payments (product_id, amount_cents, receipt) values (?, ?, ?) returning id", id%2000, paid.Cents, paid.Receipt)
	return s, err
}
