// Command echo is the back office of the shop on echo and pgx: reports, thumbnails, vouchers.
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

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
)

type office struct {
	db *pgxpool.Pool

	mu         sync.Mutex
	report     int64
	madeAt     time.Time
	refreshing bool
}

const fresh = 3 * time.Second

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := pgxpool.New(context.Background(), "postgres://shop@"+os.Getenv("ADDR_DB")+"/shop?sslmode=disable&pool_max_conns=40")
	if err != nil {
		log.Fatal(err)
	}
	o := &office{db: db}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/orders/:id", o.order)
	e.GET("/report", o.returned)
	e.GET("/vouchers/:id", o.voucher)
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func (o *office) order(c echo.Context) error {
	var cents int64
	err := o.db.QueryRow(c.Request().Context(), "select total_cents from orders where id = $1::int", c.Param("id")).Scan(&cents)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]int64{"cents": cents})
}

// returned is how many customers have orders that were sent or came back. It is kept for three
// seconds; then one request makes it anew while others get the old one. With the fault all
// that come until then make it anew.
func (o *office) returned(c echo.Context) error {
	o.mu.Lock()
	known, old := !o.madeAt.IsZero(), time.Since(o.madeAt) > fresh
	report := o.report
	mine := !known || old && (fault("cache-stampede") || !o.refreshing)
	o.refreshing = o.refreshing || mine
	o.mu.Unlock()
	if mine {
		var err error
		if report, err = o.count(c.Request().Context()); err != nil {
			return err
		}
		o.mu.Lock()
		o.report, o.madeAt, o.refreshing = report, time.Now(), false
		o.mu.Unlock()
	}
	return c.JSON(http.StatusOK, map[string]int64{"returned": report})
}

func (o *office) count(ctx context.Context) (n int64, err error) {
	err = o.db.QueryRow(ctx, "select count(distinct customer_id) from orders where status <> 'paid'").Scan(&n)
	return n, err
}

// voucher computes the code of a voucher, some milliseconds of CPU, and with the fault
// cpu-heavy five times as long.
func (o *office) voucher(c echo.Context) error {
	rounds := 40_000
	if fault("cpu-heavy") {
		rounds = 220_000
	}
	sum := sha256.Sum256([]byte(c.Param("id")))
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	return c.JSON(http.StatusOK, map[string]string{"voucher": strconv.FormatUint(uint64(sum[0])<<8|uint64(sum[1]), 36)})
}
