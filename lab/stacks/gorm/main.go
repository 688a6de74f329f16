// Command gorm keeps the bookings of hotels: net/http, GORM and MariaDB, and a channel
// manager over HTTP that says whether a room is free.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Room struct {
	ID    int
	Name  string
	Hotel string
	Cents int
}

type Guest struct {
	ID      int
	Name    string
	Email   string
	Remarks string
}

type Booking struct {
	ID      int64
	RoomID  int
	GuestID int
	Guest   Guest
	Nights  int
	Voucher string
}

type hotel struct {
	db      *gorm.DB
	channel *http.Client
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := gorm.Open(mysql.Open("shop@tcp("+os.Getenv("ADDR_DB")+")/shop?parseTime=true"), &gorm.Config{
		Logger:                 logger.Discard,
		SkipDefaultTransaction: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	open := 20
	if fault("transaction-over-call") {
		open = 4
	}
	pool.SetMaxOpenConns(open)
	pool.SetMaxIdleConns(open)
	h := &hotel{db: db, channel: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	http.HandleFunc("GET /rooms/{id}", h.room)
	http.HandleFunc("GET /rooms/{id}/bookings", h.bookings)
	http.HandleFunc("GET /guests", h.guest)
	http.HandleFunc("POST /rooms/{id}/bookings", h.book)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (h *hotel) room(w http.ResponseWriter, r *http.Request) {
	var room Room
	err := h.db.WithContext(r.Context()).First(&room, "id = ?", r.PathValue("id")).Error
	reply(w, room, err)
}

// bookings are those of a room with their guests.
func (h *hotel) bookings(w http.ResponseWriter, r *http.Request) {
	db := h.db.WithContext(r.Context())
	var all []Booking
	if !fault("n-plus-one") {
		err := db.Preload("Guest").Limit(150).Find(&all, "room_id = ?", r.PathValue("id")).Error
		reply(w, all, err)
		return
	}
	err := db.Limit(150).Find(&all, "room_id = ?", r.PathValue("id")).Error
	for i := range all {
		if err == nil {
			err = db.First(&all[i].Guest, all[i].GuestID).Error
		}
	}
	reply(w, all, err)
}

// guest finds a guest by the address of the mail, in which some write capitals.
func (h *hotel) guest(w http.ResponseWriter, r *http.Request) {
	email := r.URL.Query().Get("email")
	db := h.db.WithContext(r.Context())
	if fault("no-index") {
		db = db.Where("lower(trim(email)) = lower(?)", email)
	} else {
		db = db.Where("email = ?", email) // the column's collation makes no difference between them
	}
	var found []Guest
	err := db.Find(&found).Error
	reply(w, found, err)
}

// book books a room that the channel manager confirms. With the fault the transaction is
// open meanwhile, and its connection taken.
func (h *hotel) book(w http.ResponseWriter, r *http.Request) {
	room, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b := Booking{RoomID: room, GuestID: room * 7, Nights: 2}
	db := h.db.WithContext(r.Context())
	if fault("transaction-over-call") {
		err = db.Transaction(func(tx *gorm.DB) error {
			if err := tx.First(&Room{}, room).Error; err != nil {
				return err
			}
			var err error
			if b.Voucher, err = h.confirm(r, room); err != nil {
				return err
			}
			return tx.Omit("Guest").Create(&b).Error
		})
		reply(w, b, err)
		return
	}
	if b.Voucher, err = h.confirm(r, room); err == nil {
		err = db.Transaction(func(tx *gorm.DB) error {
			if err := tx.First(&Room{}, room).Error; err != nil {
				return err
			}
			return tx.Omit("Guest").Create(&b).Error
		})
	}
	reply(w, b, err)
}

func (h *hotel) confirm(r *http.Request, room int) (string, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+os.Getenv("ADDR_CHANNEL")+"/confirm/"+strconv.Itoa(room), nil)
	if err != nil {
		return "", err
	}
	response, err := h.channel.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var said struct{ Receipt string }
	err = json.NewDecoder(response.Body).Decode(&said)
	return said.Receipt, err
}
