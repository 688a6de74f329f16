// Command grpcgateway sells tickets of a railway to agencies: a gRPC server with interceptors, a
// grpc-gateway in the same process that speaks HTTP with agencies, and an engine of reservations
// that is called over gRPC.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/unstall/unstall/lab/stacks/grpcgateway/fares"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	insecureCall := grpc.WithTransportCredentials(insecure.NewCredentials())
	engine, err := grpc.NewClient("passthrough:///"+os.Getenv("ADDR_ENGINE"), insecureCall)
	if err != nil {
		log.Fatal(err)
	}
	limits := newLimits()
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(recovery.UnaryServerInterceptor(), limits.intercept))
	fares.RegisterFaresServer(server, &sales{engine: fares.NewEngineClient(engine), table: newTable()})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(server.Serve(inner)) }()

	self, err := grpc.NewClient("passthrough:///"+inner.Addr().String(), insecureCall)
	if err != nil {
		log.Fatal(err)
	}
	mux := runtime.NewServeMux()
	if err := fares.RegisterFaresHandler(context.Background(), mux, self); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

// sales is the service that agencies ask.
type sales struct {
	fares.UnimplementedFaresServer
	engine fares.EngineClient
	table  table
}

// GetFare looks a fare up in the table.
func (s *sales) GetFare(_ context.Context, in *fares.JourneyRequest) (*fares.Fare, error) {
	return s.table.fare(in.GetId()), nil
}

// GetSeats asks the engine of the reservations.
func (s *sales) GetSeats(ctx context.Context, in *fares.JourneyRequest) (*fares.Seats, error) {
	return s.engine.CountSeats(ctx, in)
}
