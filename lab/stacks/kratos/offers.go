package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/redis/rueidis"
)

const (
	offersKey = "offers"
	offersTTL = 3 * time.Second
)

// offers are the offers of all partners, which are kept in Redis for a while.
type offers struct {
	redis  rueidis.Client
	url    string
	client http.Client
}

func newOffers(redis rueidis.Client, address string) *offers {
	return &offers{redis: redis, url: "http://" + address + "/offers", client: http.Client{Timeout: 15 * time.Second}}
}

// start fetches the offers, and does so again before they expire. With the fault nobody does
// but those who miss them.
func (o *offers) start() {
	if _, err := o.renew(context.Background()); err != nil {
		log.Fatal(err)
	}
	if fault("offers-expire") {
		return
	}
	go func() {
		for range time.Tick(offersTTL / 3) {
			if _, err := o.renew(context.Background()); err != nil {
				log.Print(err)
			}
		}
	}()
}

// get returns the offers that Redis has, else those that the partner has.
func (o *offers) get(ctx context.Context) ([]byte, error) {
	found, err := o.redis.Do(ctx, o.redis.B().Get().Key(offersKey).Build()).AsBytes()
	if rueidis.IsRedisNil(err) {
		return o.renew(ctx)
	}
	return found, err
}

// renew asks the partner for the offers and keeps them.
func (o *offers) renew(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", o.url, answer.Status)
	}
	found, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return found, o.redis.Do(ctx, o.redis.B().Set().Key(offersKey).Value(rueidis.BinaryString(found)).Px(offersTTL).Build()).Error()
}
