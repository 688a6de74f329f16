package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"time"

	"go.etcd.io/bbolt"
)

const staff = 20_000

var bucket = []byte("punches")

// journal keeps the punches. What was written in the last second may be lost, as the
// terminals keep it for a day; with the fault each punch is on the disk before it is
// answered, one after the other.
type journal struct{ db *bbolt.DB }

func openJournal(name string) (*journal, error) {
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	j := &journal{db: db}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		for id := 0; id < staff && err == nil; id++ {
			err = b.Put(key(id), []byte("never"))
		}
		return err
	})
	if err == nil && !fault("update-each") {
		db.NoSync = true
		go j.syncEachSecond()
	}
	return j, err
}

func (j *journal) syncEachSecond() {
	for {
		time.Sleep(time.Second)
		if err := j.db.Sync(); err != nil {
			log.Print(err)
		}
	}
}

func key(id int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(id%staff)) }

func (j *journal) add(id int, at time.Time) error {
	return j.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put(key(id), []byte(at.Format(time.RFC3339Nano)))
	})
}

func (j *journal) last(id int) (said string, err error) {
	err = j.db.View(func(tx *bbolt.Tx) error {
		found := tx.Bucket(bucket).Get(key(id))
		if found == nil {
			return fmt.Errorf("no worker has the number %d", id)
		}
		said = string(found)
		return nil
	})
	return said, err
}

// count says how many have come at all.
func (j *journal) count() (n int, err error) {
	err = j.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, said []byte) error {
			if string(said) != "never" {
				n++
			}
			return nil
		})
	})
	return n, err
}
