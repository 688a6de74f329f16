// Command grpc is the price service of the shop: gRPC, called by a gateway that speaks HTTP.
package main

import (
	"context"
	"crypto/sha256"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// prices is what shop.Prices serves: numbers of products in, cents or words out.
type prices interface {
	Price(context.Context, *wrapperspb.Int64Value) (*wrapperspb.Int64Value, error)
	Quote(context.Context, *wrapperspb.Int64Value) (*wrapperspb.StringValue, error)
}

type server struct {
	lists  sync.RWMutex
	asked  time.Time
	client *http.Client
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	s.RegisterService(&description, &server{client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}})
	log.Fatal(s.Serve(l))
}

var description = grpc.ServiceDesc{ServiceName: "shop.Prices", HandlerType: (*prices)(nil), Methods: []grpc.MethodDesc{
	{MethodName: "Price", Handler: method(func(s prices, ctx context.Context, in *wrapperspb.Int64Value) (any, error) { return s.Price(ctx, in) })},
	{MethodName: "Quote", Handler: method(func(s prices, ctx context.Context, in *wrapperspb.Int64Value) (any, error) { return s.Quote(ctx, in) })},
}}

func method(call func(prices, context.Context, *wrapperspb.Int64Value) (any, error)) grpc.MethodHandler {
	return func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.Int64Value)
		if err := decode(in); err != nil {
			return nil, err
		}
		return call(srv.(prices), ctx, in)
	}
}

// Price is computed from the price lists.
func (s *server) Price(_ context.Context, product *wrapperspb.Int64Value) (*wrapperspb.Int64Value, error) {
	s.lists.RLock()
	defer s.lists.RUnlock()
	sum := sha256.Sum256([]byte(strconv.FormatInt(product.Value, 10)))
	for range 60_000 {
		sum = sha256.Sum256(sum[:])
	}
	return wrapperspb.Int64(int64(sum[0])), nil
}

// Quote asks the supplier, and writes down when. With the fault it holds the lock of the
// lists until the supplier has answered.
func (s *server) Quote(ctx context.Context, product *wrapperspb.Int64Value) (*wrapperspb.StringValue, error) {
	s.lists.Lock()
	s.asked = time.Now()
	if fault("hot-lock") {
		defer s.lists.Unlock()
	} else {
		s.lists.Unlock()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+os.Getenv("ADDR_SUPPLIER")+"/quote/"+strconv.FormatInt(product.Value, 10), nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return wrapperspb.String(string(body)), err
}
