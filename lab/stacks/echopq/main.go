// Command echopq is what a bakery serves to cafés on echo: orders in PostgreSQL by database/sql and lib/pq, bestsellers
// kept in Redis by go-redis, and a mill over HTTP that is found by its name.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/redis/go-redis/v9"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx); err != nil {
		slog.Error("not served", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	orders, err := openOrders(os.Getenv("ADDR_DB"))
	if err != nil {
		return err
	}
	defer orders.db.Close()
	sellers := &bestsellers{orders: orders, cache: redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 40})}
	if err := sellers.refresh(ctx); err != nil {
		return err
	}
	if !fault("when-asked-for") {
		go sellers.refreshRegularly(ctx)
	}
	mill, err := newMill(os.Getenv("ADDR_MILL"), os.Getenv("ADDR_NAMES"))
	if err != nil {
		return err
	}
	oven := &oven{}
	go oven.bake(ctx)

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover())
	e.GET("/orders/:id", answer(orders.find))
	e.GET("/cafes/:id/orders", answer(orders.ofCafe))
	e.GET("/cafes/:id/large", answer(orders.lastLarge))
	e.GET("/bestsellers/:id", answer(sellers.find))
	e.GET("/flours/:id/delivery", answer(mill.delivery))
	e.GET("/cafes/:id/call", answer(oven.wait))
	e.GET("/admin/months", answer(orders.months))
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })

	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// answer makes a handler of a function that finds what to send for the number in the path, which may be missing.
func answer[T any](find func(ctx context.Context, id int) (T, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := 0
		if text := c.Param("id"); text != "" {
			var err error
			if id, err = strconv.Atoi(text); err != nil {
				return echo.NewHTTPError(http.StatusBadRequest, err.Error())
			}
		}
		found, err := find(c.Request().Context(), id)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, found)
	}
}
