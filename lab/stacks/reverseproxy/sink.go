package main

import (
	"log"
	"os"
	"time"

	"go.uber.org/zap/zapcore"
)

// lossy hands lines to one goroutine that writes them, and drops what it cannot take.
type lossy chan []byte

// newSink is where log lines go. Nobody waits for it; with the fault, each request does.
func newSink(out *os.File) zapcore.WriteSyncer {
	if fault("log-pipe") {
		return zapcore.Lock(out)
	}
	lines := make(lossy, 4096)
	go func() {
		for line := range lines {
			if _, err := out.Write(line); err != nil {
				log.Print(err)
			}
		}
	}()
	return lines
}

func (l lossy) Write(line []byte) (int, error) {
	select {
	case l <- append([]byte(nil), line...):
	default:
	}
	return len(line), nil
}

func (l lossy) Sync() error {
	for deadline := time.Now().Add(time.Second); len(l) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return nil
}
