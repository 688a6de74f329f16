// Command echomaria is what a rental of board games serves to clubs on echo: rentals and games in MariaDB by sqlx, a ranking
// kept in Redis by go-redis, a card company over HTTP, rules of games in memory.
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
	cards := newCards(os.Getenv("ADDR_CARDS"))
	rentals, err := openRentals(os.Getenv("ADDR_DB"), cards)
	if err != nil {
		return err
	}
	defer rentals.db.Close()
	ranking := &ranking{rentals: rentals, store: redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 20})}
	if err := ranking.renew(ctx); err != nil {
		return err
	}
	if !fault("ttl-at-once") {
		go ranking.renewRegularly(ctx)
	}
	rules := newRules()

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover())
	e.GET("/rentals/:id", answer(rentals.find))
	e.GET("/clubs/:id/rentals", answer(rentals.ofClub))
	e.GET("/clubs/:id/page", answer(rentals.page))
	e.POST("/games/:id/rental", answer(rentals.rent))
	e.GET("/games/:id/place", answer(ranking.place))
	e.GET("/shelves/:id/rules", answer(rules.ofShelf), compress())
	e.GET("/clubs/:id/news", answer(waitForNews))
	e.GET("/admin/clubs", answer(rentals.bestClubs))
	e.GET("/health", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })

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

// compress packs answers: so well that it takes long, with the fault.
func compress() echo.MiddlewareFunc {
	level := 1
	if fault("gzip-best") {
		level = 9
	}
	return middleware.GzipWithConfig(middleware.GzipConfig{Level: level})
}

// answer makes a handler of a function that finds what to send for the number in the path, which may be missing.
func answer[T any](find func(ctx context.Context, id int) (T, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := 0, error(nil)
		if text := c.Param("id"); text != "" {
			id, err = strconv.Atoi(text)
		}
		if err != nil {
			return echo.NewHTTPError(http.StatusBadRequest, err.Error())
		}
		found, err := find(c.Request().Context(), id)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, found)
	}
}

// waitForNews answers when there are news for a club, or after five seconds.
func waitForNews(ctx context.Context, _ int) (bool, error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(5 * time.Second):
		return false, nil
	}
}
