// Command engine is the engine of a railway's reservations over gRPC, which takes 60 ms to count the
// free seats of a train. With the fault few-streams it lets a connection have four calls at a time.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"

	"github.com/unstall/unstall/lab/stacks/grpcgateway/fares"
)

const takes = 60 * time.Millisecond

type engine struct {
	fares.UnimplementedEngineServer
}

func main() {
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	streams := uint32(250)
	if os.Getenv("FAULT") == "few-streams" {
		streams = 4
	}
	server := grpc.NewServer(grpc.MaxConcurrentStreams(streams))
	fares.RegisterEngineServer(server, engine{})
	log.Fatal(server.Serve(l))
}

// CountSeats counts the free seats of a train.
func (engine) CountSeats(ctx context.Context, in *fares.JourneyRequest) (*fares.Seats, error) {
	select {
	case <-time.After(takes):
		return &fares.Seats{Id: in.GetId(), Free: in.GetId() % 80}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
