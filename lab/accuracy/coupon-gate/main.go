// Coupon-gate says whether a code is good for a discount (fasthttp). Most codes people try
// are not, which is said at once.
package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"

	"github.com/valyala/fasthttp"
)

func main() {
	good := map[string]int{}
	for i := range 50_000 {
		sum := sha1.Sum(fmt.Appendf(nil, "coupon %d", i))
		good[hex.EncodeToString(sum[:5])] = 5 + i%20
	}
	good["welcome"] = 10
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	log.Fatal(fasthttp.ListenAndServe(os.Getenv("ADDR"), func(ctx *fasthttp.RequestCtx) {
		code, ok := strings.CutPrefix(string(ctx.Path()), "/coupon/")
		switch percent, known := good[code]; {
		case !ok:
			ctx.Error("no such page", http.StatusNotFound)
		case len(code) > 12:
			ctx.Error("a code has ten letters", http.StatusBadRequest)
		case code == "staff":
			ctx.Error("not for you", http.StatusForbidden)
		case !known:
			ctx.Error("not a code of ours", http.StatusNotFound)
		default:
			fmt.Fprintf(ctx, `{"percent":%d}`, percent)
		}
	}))
}
