package main

import (
	"crypto/sha256"
	"log"
	"strconv"
	"sync"

	"github.com/kataras/iris/v12"
	"golang.org/x/crypto/bcrypt"
)

// gate lets partners in who send their password with each request. It remembers those whose
// password was right; with the fault it compares each time.
type gate struct {
	hashes map[string][]byte
	known  sync.Map // of [32]byte, a name and its password
}

func newGate() *gate {
	g := &gate{hashes: make(map[string][]byte)}
	for n := range 4 {
		hash, err := bcrypt.GenerateFromPassword([]byte("secret"+strconv.Itoa(n)), bcrypt.DefaultCost)
		if err != nil {
			log.Fatal(err)
		}
		g.hashes["partner"+strconv.Itoa(n)] = hash
	}
	return g
}

func (g *gate) check(ctx iris.Context) {
	name, password, ok := ctx.Request().BasicAuth()
	key := sha256.Sum256([]byte(name + "\x00" + password))
	if _, known := g.known.Load(key); known {
		ctx.Next()
		return
	}
	if !ok || bcrypt.CompareHashAndPassword(g.hashes[name], []byte(password)) != nil {
		ctx.StopWithStatus(iris.StatusUnauthorized)
		return
	}
	if !fault("bcrypt-each") {
		g.known.Store(key, true)
	}
	ctx.Next()
}
