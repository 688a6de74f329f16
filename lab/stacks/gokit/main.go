// Command gokit serves the claims desk of a health insurer: Go kit on net/http, pgx on PostgreSQL,
// and a register of covers over HTTP that asks for a token.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-kit/kit/endpoint"
	kithttp "github.com/go-kit/kit/transport/http"
	"github.com/jackc/pgx/v5/pgxpool"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := pgxpool.ParseConfig(fmt.Sprintf("postgres://shop@%s/shop?sslmode=disable", os.Getenv("ADDR_DB")))
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = 12
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	tokens := &tokenSource{login: "http://" + os.Getenv("ADDR_LOGIN") + "/token"}
	if err := tokens.start(ctx); err != nil {
		log.Fatal(err)
	}
	claims := &claimService{db: db}
	mux := http.NewServeMux()
	serve := func(pattern string, e endpoint.Endpoint) {
		mux.Handle(pattern, kithttp.NewServer(limitTime(20*time.Second)(e), decodeID, kithttp.EncodeJSONResponse, kithttp.ServerErrorLogger(transportLog{})))
	}
	serve("GET /claims/{id}", claims.find)
	serve("GET /covers/{id}", makeCoverEndpoint(tokens))
	serve("POST /receipts/{id}", checkReceipt)
	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: mux}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	log.Print(server.ListenAndServe())
}

// transportLog writes errors of the transport to the log.
type transportLog struct{}

func (transportLog) Log(keyvals ...any) error {
	log.Print(keyvals...)
	return nil
}

// limitTime gives up what takes too long.
func limitTime(longest time.Duration) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, longest)
			defer cancel()
			return next(ctx, request)
		}
	}
}

func decodeID(_ context.Context, r *http.Request) (any, error) {
	return strconv.Atoi(r.PathValue("id"))
}

type claimService struct{ db *pgxpool.Pool }

type claim struct {
	ID     int    `json:"id"`
	Cents  int64  `json:"cents"`
	Status string `json:"status"`
}

func (s *claimService) find(ctx context.Context, request any) (any, error) {
	c := claim{ID: request.(int)}
	err := s.db.QueryRow(ctx, "select total_cents, status from orders where id = $1", c.ID).Scan(&c.Cents, &c.Status)
	return c, err
}

type cover struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

// makeCoverEndpoint makes a client of the register, which gets a token with each call.
func makeCoverEndpoint(tokens *tokenSource) endpoint.Endpoint {
	register := &url.URL{Scheme: "http", Host: os.Getenv("ADDR_REGISTER"), Path: "/cover"}
	call := kithttp.NewClient(http.MethodGet, register, encodeCover, decodeCover,
		kithttp.SetClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}})).Endpoint()
	return func(ctx context.Context, request any) (any, error) {
		token, err := tokens.get(ctx)
		if err != nil {
			return nil, err
		}
		return call(ctx, coverRequest{id: request.(int), token: token})
	}
}

type coverRequest struct {
	id    int
	token string
}

func encodeCover(_ context.Context, r *http.Request, request any) error {
	asked := request.(coverRequest)
	r.URL.RawQuery = "id=" + strconv.Itoa(asked.id)
	r.Header.Set("Authorization", "Bearer "+asked.token)
	return nil
}

func decodeCover(_ context.Context, r *http.Response) (any, error) {
	var c cover
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	return c, err
}
