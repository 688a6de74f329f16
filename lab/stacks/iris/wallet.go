package main

import (
	"context"
	"database/sql"
	"time"
)

// wallet redeems vouchers. A redemption goes on when its client has gone, for eight seconds
// at most.
type wallet struct{ db *sql.DB }

func limited() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// redeem says what became of a voucher.
func (w *wallet) redeem(id int) (string, error) {
	ctx := limited()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	valid, err := w.isValid(ctx, tx, id)
	if err != nil || !valid {
		if !fault("rollback-leak") {
			_ = tx.Rollback() // what it says changes nothing
		}
		return "refused", err
	}
	if _, err := tx.ExecContext(ctx, "insert into payments (product_id, amount_cents, receipt) values ($1, $2, 'voucher')", id%2000, 500); err != nil {
		_ = tx.Rollback()
		return "", err
	}
	return "redeemed", tx.Commit()
}

// isValid looks a voucher up. Those of returned orders that cost little are not valid any
// more: one of 15.
func (w *wallet) isValid(ctx context.Context, tx *sql.Tx, id int) (bool, error) {
	var order int
	err := tx.QueryRowContext(ctx, "select id from orders where reference = concat('REF-', $1::int)", id%300_000).Scan(&order)
	return order%15 != 0, err
}
