// Command gateway speaks HTTP to clients and gRPC to the price service.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	service, err := grpc.NewClient(os.Getenv("ADDR_SERVICE"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	serve := func(name string, answer func() proto.Message) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			product, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			out := answer()
			if err := service.Invoke(r.Context(), "/shop.Prices/"+name, wrapperspb.Int64(product), out); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			w.Write([]byte(out.(interface{ String() string }).String()))
		}
	}
	http.HandleFunc("GET /prices/{id}", serve("Price", func() proto.Message { return new(wrapperspb.Int64Value) }))
	http.HandleFunc("GET /quotes/{id}", serve("Quote", func() proto.Message { return new(wrapperspb.StringValue) }))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
