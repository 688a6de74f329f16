package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gogf/gf/v2/net/gclient"
	"github.com/gogf/gf/v2/os/gcache"
)

const (
	tariffCount = 60
	tariffKept  = 3500 * time.Millisecond
)

// tariffs are those of another company, kept for some seconds.
type tariffs struct {
	cache  *gcache.Cache
	client *gclient.Client
	url    string
}

type tariff struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

func newTariffs(address string) *tariffs {
	return &tariffs{gcache.New(), gclient.New().Timeout(15 * time.Second), "http://" + address}
}

// find returns the tariff of a station, which it asks for if it is not kept. With the fault the
// cache is locked meanwhile, so that a tariff is not asked for twice.
func (t *tariffs) find(ctx context.Context, id int) (any, error) {
	group := id % tariffCount
	ask := func(ctx context.Context) (any, error) { return t.ask(ctx, group) }
	if fault("cache-locked") {
		found, err := t.cache.GetOrSetFuncLock(ctx, group, ask, tariffKept)
		return found.Interface(), err
	}
	found, err := t.cache.GetOrSetFunc(ctx, group, ask, tariffKept)
	return found.Interface(), err
}

func (t *tariffs) ask(ctx context.Context, group int) (found tariff, err error) {
	answer, err := t.client.Get(ctx, fmt.Sprintf("%s/tariffs/%d", t.url, group))
	if err != nil {
		return found, err
	}
	defer answer.Close()
	return found, json.Unmarshal(answer.ReadAll(), &found)
}
