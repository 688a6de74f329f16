// Desk before an office that speaks lines over TCP: /SEND/york/hello becomes the line
// "SEND york hello" on one of the desk's lines, of which there are as many as are needed at
// a time.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

type line struct {
	net.Conn
	answers *bufio.Reader
}

var idle = make(chan line, 200)

func main() {
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), http.HandlerFunc(ask)))
}

func ask(w http.ResponseWriter, r *http.Request) {
	answer, err := send(strings.ReplaceAll(strings.Trim(r.URL.Path, "/"), "/", " "))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	io.WriteString(w, answer)
}

func send(words string) (string, error) {
	var to line
	select {
	case to = <-idle:
	default:
		conn, err := net.Dial("tcp", os.Getenv("ADDR_SERVICE"))
		if err != nil {
			return "", err
		}
		to = line{conn, bufio.NewReader(conn)}
	}
	if _, err := fmt.Fprintln(to, words); err != nil {
		to.Close()
		return "", err
	}
	answer, err := to.answers.ReadString('\n')
	if err != nil {
		to.Close()
		return "", err
	}
	select {
	case idle <- to:
	default:
		to.Close()
	}
	return answer, nil
}
