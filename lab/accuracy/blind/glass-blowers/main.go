// Command glass-blowers books pieces of glass (httprouter, zap). The guild wants each piece in a register
// before it is confirmed: the register's core writes a line and syncs the file, one at a time.
package main

import (
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"

	"github.com/julienschmidt/httprouter"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// register is a file that is on the disk after each line; FAULT=0 leaves that to the kernel.
type register struct {
	*os.File
	lax bool
}

func (r register) Write(line []byte) (int, error) {
	n, err := r.File.Write(line)
	if err == nil && !r.lax {
		err = r.File.Sync()
	}
	return n, err
}

func main() {
	file, err := os.Create(filepath.Join(".", "register.jsonl"))
	if err != nil {
		panic(err)
	}
	guild := zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
		zapcore.Lock(zapcore.AddSync(register{file, os.Getenv("FAULT") == "0"})),
		zap.InfoLevel,
	))
	r := httprouter.New()
	r.POST("/piece/:number", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		guild.Info("piece", zap.String("number", p.ByName("number")), zap.String("colour", "cobalt"), zap.Int("grams", 400+len(p.ByName("number"))*7))
		w.WriteHeader(http.StatusCreated)
	})
	r.GET("/piece/:number", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		w.Write([]byte("cobalt " + p.ByName("number") + "\n"))
	})
	r.HandlerFunc("GET", "/debug/pprof/", pprof.Index)
	r.HandlerFunc("GET", "/debug/pprof/trace", pprof.Trace)
	r.HandlerFunc("GET", "/debug/pprof/profile", pprof.Profile)
	r.Handler("GET", "/debug/pprof/goroutine", pprof.Handler("goroutine"))
	r.Handler("GET", "/debug/pprof/mutex", pprof.Handler("mutex"))
	r.Handler("GET", "/debug/pprof/block", pprof.Handler("block"))
	r.Handler("GET", "/debug/pprof/heap", pprof.Handler("heap"))
	guild.Sync()
	panic(http.ListenAndServe(os.Getenv("ADDR"), r))
}
