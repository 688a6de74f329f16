package main

import "github.com/jmoiron/sqlx"

const pageSize = 20

// OrderController shows orders, and pages of the archive.
type OrderController struct {
	base
	DB *sqlx.DB
}

type order struct {
	ID        int    `db:"id" json:"id"`
	Reference string `db:"reference" json:"reference"`
	Status    string `db:"status" json:"status"`
	Cents     int64  `db:"total_cents" json:"cents"`
}

// Show shows an order.
func (c *OrderController) Show() {
	var found order
	err := c.DB.GetContext(c.Ctx.Request.Context(), &found, "select id, reference, status, total_cents from orders where id = $1", c.number(":id")%300_000)
	c.reply(found, err)
}

// Pay enters a payment.
func (c *OrderController) Pay() {
	id := c.number(":id")
	var payment int64
	err := c.DB.GetContext(c.Ctx.Request.Context(), &payment, "insert into payments (product_id, amount_cents, receipt) values ($1, $2, 'till') returning id", id%2000, 100+id%900)
	c.reply(map[string]int64{"payment": payment}, err)
}

// Page shows a page of the archive in the order in which orders were placed, which is that of
// their numbers. It begins behind the last order of the page before; with the fault all pages
// before it are counted off.
func (c *OrderController) Page() {
	first := c.number(":page") % 15_000 * pageSize
	var found []order
	query := "select id, reference, status, total_cents from orders where id >= $1 order by id limit $2"
	if fault("deep-offset") {
		query = "select id, reference, status, total_cents from orders order by placed_at, reference offset $1 limit $2"
	}
	err := c.DB.SelectContext(c.Ctx.Request.Context(), &found, query, first, pageSize)
	c.reply(found, err)
}
