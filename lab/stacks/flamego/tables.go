package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"xorm.io/xorm"
)

const restaurants = 1000

// Restaurant is a row of MariaDB.
type Restaurant struct {
	ID     int       `xorm:"'id' pk" json:"id"`
	Name   string    `xorm:"'name'" json:"name"`
	Seats  int       `xorm:"'seats'" json:"seats"`
	Synced time.Time `xorm:"'synced'" json:"synced"`
}

// TableName is the table of restaurants.
func (Restaurant) TableName() string { return "restaurants" }

// Reservation is a row of MariaDB, whose restaurant must exist.
type Reservation struct {
	ID           int64     `xorm:"'id' pk autoincr" json:"id"`
	RestaurantID int       `xorm:"'restaurant_id'" json:"restaurant"`
	Guest        int       `xorm:"'guest'" json:"guest"`
	Persons      int       `xorm:"'persons'" json:"persons"`
	At           time.Time `xorm:"'at'" json:"at"`
}

// TableName is the table of reservations.
func (Reservation) TableName() string { return "reservations" }

type tables struct{ engine *xorm.Engine }

func (t *tables) restaurant(ctx context.Context, id int) (found Restaurant, err error) {
	ok, err := t.engine.Context(ctx).ID(id).Get(&found)
	if err == nil && !ok {
		err = errors.New("no such restaurant")
	}
	return found, err
}

// reserve enters a reservation. MariaDB looks whether the restaurant exists, and keeps it from being changed meanwhile.
func (t *tables) reserve(ctx context.Context, restaurant int) (Reservation, error) {
	made := Reservation{RestaurantID: restaurant, Guest: rand.IntN(7000), Persons: 1 + rand.IntN(8), At: time.Now().Add(48 * time.Hour)}
	_, err := t.engine.Context(ctx).Insert(&made)
	return made, err
}
