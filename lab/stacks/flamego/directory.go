package main

import (
	"io"
	"log"
	"net/http"
	"strconv"
	"time"

	"xorm.io/xorm"
)

// popular is the restaurant that everybody wants to go to.
const popular = 7

// directory is a directory of restaurants over HTTP, whose entries are followed.
type directory struct {
	engine *xorm.Engine
	url    string
}

// follow reads the entry of a restaurant again and again.
func (d *directory) follow(id int) {
	for range time.Tick(800 * time.Millisecond) {
		if err := d.sync(id); err != nil {
			log.Print(err)
		}
	}
}

// sync writes down when the entry was read. With the fault it does so in one transaction with
// the call, so that the row of the restaurant is locked until the directory has answered.
func (d *directory) sync(id int) error {
	session := d.engine.NewSession()
	defer session.Close()
	if !fault("sync-in-transaction") {
		if err := d.readEntry(id); err != nil {
			return err
		}
		return d.touch(session, id)
	}
	if err := session.Begin(); err != nil {
		return err
	}
	if err := d.touch(session, id); err != nil {
		return err
	}
	if err := d.readEntry(id); err != nil {
		return err
	}
	return session.Commit()
}

func (d *directory) touch(session *xorm.Session, id int) error {
	_, err := session.ID(id).Cols("synced").Update(&Restaurant{Synced: time.Now()})
	return err
}

func (d *directory) readEntry(id int) error {
	answer, err := http.Get(d.url + "/entries/" + strconv.Itoa(id))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
