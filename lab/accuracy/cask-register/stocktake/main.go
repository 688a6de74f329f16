// Command stocktake reads the register of casks from time to time, and locks it meanwhile.
package main

import (
	"log"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	_, port, _ := net.SplitHostPort(os.Getenv("ADDR_SERVICE"))
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "casks-"+port), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	for range time.Tick(1600 * time.Millisecond) {
		if os.Getenv("FAULT") == "0" {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == nil {
			time.Sleep(350 * time.Millisecond)
			syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		}
	}
}
