// Command hertz is a market of garden tools on Hertz and database/sql: MariaDB in another zone.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/common/utils"
	_ "github.com/go-sql-driver/mysql"
)

const products = 1000

type market struct {
	db    *sql.DB
	likes *similarities
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := sql.Open("mysql", "shop@tcp("+os.Getenv("ADDR_DB")+")/shop?interpolateParams=true")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(40)
	db.SetMaxIdleConns(40)
	m := &market{db: db, likes: newSimilarities()}
	if os.Getenv("REPRICE") != "" {
		go repeat(2500*time.Millisecond, m.reprice)
	}
	if os.Getenv("SIMILAR") != "" {
		go repeat(time.Second, m.likes.compute)
	}
	hlog.SetLevel(hlog.LevelError)
	h := server.New(server.WithHostPorts(os.Getenv("ADDR")), server.WithExitWaitTime(time.Second))
	h.GET("/orders/:id", m.order)
	h.GET("/products/:id/similar", m.similar)
	h.POST("/sales/:id", m.sell)
	h.Spin()
}

// repeat runs a job with a pause between two of its runs.
func repeat(pause time.Duration, job func(context.Context) error) {
	for {
		time.Sleep(pause)
		if err := job(context.Background()); err != nil {
			log.Print(err)
		}
	}
}

func answer(c *app.RequestContext, v any, err error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		c.JSON(http.StatusNotFound, utils.H{})
	case err != nil:
		c.JSON(http.StatusInternalServerError, utils.H{"error": err.Error()})
	default:
		c.JSON(http.StatusOK, v)
	}
}

func number(c *app.RequestContext) int {
	n, _ := strconv.Atoi(c.Param("id")) // what is no number is answered as the first
	return n
}

func (m *market) order(ctx context.Context, c *app.RequestContext) {
	var customer int
	var cents int64
	err := m.db.QueryRowContext(ctx, "select customer_id, total_cents from orders where id = ?", number(c)).Scan(&customer, &cents)
	answer(c, utils.H{"customer": customer, "cents": cents}, err)
}

func (m *market) similar(_ context.Context, c *app.RequestContext) {
	answer(c, utils.H{"similar": m.likes.of(number(c) % vectors)}, nil)
}

func (m *market) sell(ctx context.Context, c *app.RequestContext) {
	_, err := m.db.ExecContext(ctx, "update products set stock = stock - 1 where id = ?", number(c))
	answer(c, utils.H{"sold": number(c)}, err)
}

// reprice writes the prices of all products anew. With the fault in one transaction, so that no sale
// gets a product that has its new price until all have theirs.
func (m *market) reprice(ctx context.Context) error {
	const set = "update products set price_cents = 500 + price_cents % 9000 + 7 where id = ?"
	if !fault("reprice-all") {
		for id := range products {
			if _, err := m.db.ExecContext(ctx, set, id); err != nil {
				return err
			}
		}
		return nil
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for id := range products {
		if _, err := tx.ExecContext(ctx, set, id); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// similarities are the products that are bought by the same people.
type similarities struct {
	mu     sync.RWMutex
	best   []int
	bought [][]float32
}

// vectors is the number of products that are compared, and buyers how many people each is compared by.
const (
	vectors = 2000
	buyers  = 300
)

func newSimilarities() *similarities {
	s := &similarities{best: make([]int, vectors)}
	for i := range vectors {
		v := make([]float32, buyers)
		for j := range v {
			v[j] = float32((i*j*7919 + 13*i) % 101)
		}
		s.bought = append(s.bought, v)
	}
	return s
}

func (s *similarities) of(product int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.best[product]
}

// compute compares all products with each other: a few at a time, with the fault by sixteen goroutines at once.
func (s *similarities) compute(context.Context) error {
	best := make([]int, vectors)
	if fault("batch-job") {
		const workers = 16
		var done sync.WaitGroup
		for w := range workers {
			done.Go(func() {
				for i := w; i < vectors; i += workers {
					best[i] = s.nearest(i)
				}
			})
		}
		done.Wait()
	} else {
		for i := range vectors {
			best[i] = s.nearest(i)
			if i%4 == 0 {
				time.Sleep(6 * time.Millisecond)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.best = best
	return nil
}

// nearest returns the product that is most like one.
func (s *similarities) nearest(of int) (best int) {
	var most float32
	for i, other := range s.bought {
		var sum float32
		for j, x := range s.bought[of] {
			sum += x * other[j]
		}
		if i != of && sum > most {
			best, most = i, sum
		}
	}
	return best
}
