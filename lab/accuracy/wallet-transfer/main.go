// Command wallet-transfer moves money between wallets. A transfer holds the lock of the
// book while the bank answers, so that nobody sees half of it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
)

type bank struct {
	conn net.Conn
	in   *bufio.Reader
}

type book struct {
	mu       sync.Mutex
	balances map[string]int
	bank     *bank
}

func main() {
	conn, err := net.Dial("tcp", os.Getenv("ADDR_BANK"))
	if err != nil {
		log.Fatal(err)
	}
	b := &book{balances: map[string]int{}, bank: &bank{conn, bufio.NewReader(conn)}}
	http.HandleFunc("GET /transfer/{from}/{to}/{cents}", b.transfer)
	http.HandleFunc("GET /fees", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "1 %\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func (b *book) transfer(w http.ResponseWriter, r *http.Request) {
	cents, err := strconv.Atoi(r.PathValue("cents"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	left, err := b.move(r.PathValue("from"), r.PathValue("to"), cents)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, left)
}

func (b *book) move(from, to string, cents int) (left int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.bank.say("PUT", from, to, cents); err != nil {
		return 0, err
	}
	b.balances[from] -= cents
	b.balances[to] += cents
	return b.balances[from], nil
}

func (b *bank) say(words ...any) error {
	if _, err := fmt.Fprintln(b.conn, words...); err != nil {
		return err
	}
	_, err := b.in.ReadString('\n')
	return err
}
