// Command ginshop is what a florist serves to branches and couriers on gin: orders in PostgreSQL by sqlx and
// pgx, kept in Redis by go-redis, a courier over HTTP, and a line of zap for each request.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	logger, err := zap.NewProduction()
	if err != nil {
		log.Fatal(err)
	}
	defer logger.Sync()
	orders, err := openOrders(os.Getenv("ADDR_DB"), redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 20}))
	if err != nil {
		logger.Fatal("no database", zap.Error(err))
	}
	courier := newCourier(os.Getenv("ADDR_COURIER"))
	board := newBoard()
	go board.announce(ctx)

	gin.SetMode(gin.ReleaseMode)
	routes := gin.New()
	routes.Use(gin.Recovery(), logRequests(logger))
	routes.GET("/orders/:id", answer(func(ctx context.Context, id int) (any, error) { return orders.find(ctx, id) }))
	routes.GET("/customers/:id", answer(func(ctx context.Context, id int) (any, error) { return orders.customer(ctx, id) }))
	routes.GET("/customers/:id/branches", answer(func(ctx context.Context, id int) (any, error) { return orders.branches(ctx, id) }))
	routes.GET("/history/:id", answer(func(ctx context.Context, id int) (any, error) { return orders.history(ctx, id) }))
	routes.GET("/orders/:id/arrival", answer(func(ctx context.Context, id int) (any, error) { return courier.arrival(ctx, id) }))
	routes.GET("/orders/:id/news", answer(func(ctx context.Context, id int) (any, error) { return board.wait(ctx, id) }))
	routes.GET("/admin/cities", answer(func(ctx context.Context, _ int) (any, error) { return orders.cities(ctx) }))
	routes.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusNoContent) })

	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		logger.Fatal("not served", zap.Error(err))
	}
}

// answer makes a handler of a function that returns what to send for the number in the path.
func answer(find func(ctx context.Context, id int) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := 0
		if text := c.Param("id"); text != "" {
			var err error
			if id, err = strconv.Atoi(text); err != nil {
				c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
				return
			}
		}
		found, err := find(c.Request.Context(), id)
		if err != nil {
			_ = c.Error(err) // logRequests writes it
			c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, found)
	}
}

func logRequests(logger *zap.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		began := time.Now()
		c.Next()
		logger.Info("request", zap.String("path", c.FullPath()), zap.Int("status", c.Writer.Status()), zap.Duration("took", time.Since(began)), zap.Strings("errors", c.Errors.Errors()))
	}
}
