// Command gin is the shop on gin and pgx. It has no pprof.
package main

import (
	"context"
	"crypto/sha256"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type shop struct {
	db     *pgxpool.Pool
	client *http.Client
	prices sync.Mutex
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	config, err := pgxpool.ParseConfig("postgres://shop@" + os.Getenv("ADDR_DB") + "/shop?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = 16
	if fault("pool-small") {
		config.MaxConns = 2
	}
	db, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	s := &shop{db: db, client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/orders/:id", s.order)
	r.GET("/customers/:id/turnover", s.turnover)
	r.GET("/customers/:id/orders", s.ofCustomer)
	r.GET("/search", s.search)
	r.POST("/checkout/:id", s.checkout)
	r.GET("/prices/:id", s.price)
	log.Fatal(r.Run(os.Getenv("ADDR")))
}

func number(c *gin.Context) int {
	n, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
	}
	return n
}

func answer(c *gin.Context, v any, err error) {
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
		return
	}
	c.JSON(http.StatusOK, v)
}

func (s *shop) order(c *gin.Context) {
	var customer int
	var cents int64
	var status string
	err := s.db.QueryRow(c, "select customer_id, total_cents, status from orders where id = $1", number(c)).Scan(&customer, &cents, &status)
	answer(c, gin.H{"customer": customer, "cents": cents, "status": status}, err)
}

func (s *shop) turnover(c *gin.Context) {
	var cents int64
	err := s.db.QueryRow(c, "select archived_turnover($1)", number(c)).Scan(&cents)
	answer(c, gin.H{"cents": cents}, err)
}

type line struct {
	Order   int    `json:"order"`
	Product string `json:"product"`
	Cents   int64  `json:"cents"`
}

func (s *shop) ofCustomer(c *gin.Context) {
	lines, err := s.lines(c, number(c))
	answer(c, lines, err)
}

func (s *shop) lines(ctx context.Context, customer int) ([]line, error) {
	if !fault("n-plus-one") {
		rows, err := s.db.Query(ctx, "select o.id, p.name, o.total_cents from orders o join products p on p.id = o.product_id where o.customer_id = $1", customer)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByPos[line])
	}
	rows, err := s.db.Query(ctx, "select id, product_id, total_cents from orders where customer_id = $1", customer)
	if err != nil {
		return nil, err
	}
	var lines []line
	var products []int
	for rows.Next() {
		var l line
		var product int
		if err := rows.Scan(&l.Order, &product, &l.Cents); err != nil {
			return nil, err
		}
		lines, products = append(lines, l), append(products, product)
	}
	for i := range lines {
		name, err := s.productName(ctx, products[i])
		if err != nil {
			return nil, err
		}
		lines[i].Product = name
	}
	return lines, rows.Err()
}

func (s *shop) productName(ctx context.Context, id int) (name string, err error) {
	err = s.db.QueryRow(ctx, "select name from products where id = $1", id).Scan(&name)
	return name, err
}

func (s *shop) search(c *gin.Context) {
	query, words := "select id, status from orders where reference = $1", "REF-"+c.Query("q")
	if fault("slow-query") {
		query, words = "select id, status from orders where note ilike $1 limit 10", "%no such "+c.Query("q")+"%"
	}
	rows, err := s.db.Query(c, query, words)
	if err != nil {
		answer(c, nil, err)
		return
	}
	found, err := pgx.CollectRows(rows, pgx.RowToMap)
	answer(c, found, err)
}

func (s *shop) checkout(c *gin.Context) {
	product := number(c)
	if fault("row-lock") {
		answer(c, gin.H{"sold": product}, s.sellInOneTransaction(c, product))
		return
	}
	err := s.pay(c, product)
	if err == nil {
		err = pgx.BeginFunc(c, s.db, func(tx pgx.Tx) error { return book(c, tx, product) })
	}
	answer(c, gin.H{"sold": product}, err)
}

// sellInOneTransaction asks the payment provider while the product's row is locked.
func (s *shop) sellInOneTransaction(ctx context.Context, product int) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if err := book(ctx, tx, product); err != nil {
			return err
		}
		return s.pay(ctx, product)
	})
}

func book(ctx context.Context, tx pgx.Tx, product int) error {
	if _, err := tx.Exec(ctx, "update products set stock = stock - 1 where id = $1", product); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "insert into payments (product_id, amount_cents, receipt) values ($1, 100, 'card')", product)
	return err
}

func (s *shop) pay(ctx context.Context, product int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+os.Getenv("ADDR_PAYMENTS")+"/charge/"+strconv.Itoa(product), nil)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (s *shop) price(c *gin.Context) {
	if fault("hot-lock") {
		s.prices.Lock()
		defer s.prices.Unlock()
	}
	var bought int64 // the discount depends on it: a query of 20 ms
	if err := s.db.QueryRow(c, "select archived_turnover($1)", number(c)%1500).Scan(&bought); err != nil {
		answer(c, nil, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"cents": bought%1000 + int64(discount(number(c)))})
}

// discount is the best of many combinations of vouchers.
func discount(product int) (best byte) {
	sum := sha256.Sum256([]byte(strconv.Itoa(product)))
	for range 2_000 {
		sum = sha256.Sum256(sum[:])
		best = max(best, sum[0])
	}
	return best
}
