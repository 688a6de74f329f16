// Command tracks knows the titles of tracks (gRPC): a call may ask for several, and takes 4 ms.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func titles(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var asked wrapperspb.StringValue
	if err := decode(&asked); err != nil {
		return nil, err
	}
	time.Sleep(4 * time.Millisecond)
	found := strings.Split(asked.Value, ",")
	for i, n := range found {
		found[i] = "track no. " + n
	}
	return wrapperspb.String(strings.Join(found, ",")), nil
}

func main() {
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "mixtape.Tracks",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Titles", Handler: titles}},
	}, nil)
	log.Fatal(s.Serve(listener))
}
