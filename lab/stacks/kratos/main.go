// Command kratos is the loyalty programme of a chain of shops: kratos and rueidis on Redis,
// and the offers of partners over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-kratos/kratos/v2"
	klog "github.com/go-kratos/kratos/v2/log"
	khttp "github.com/go-kratos/kratos/v2/transport/http"
	"github.com/redis/rueidis"
)

const members = 20_000

func fault(name string) bool { return os.Getenv("FAULT") == name }

type programme struct {
	redis    rueidis.Client
	offers   *offers
	checkins *checkins
}

func main() {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{os.Getenv("ADDR_REDIS")}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		log.Fatal(err)
	}
	p := &programme{redis: client, offers: newOffers(client, os.Getenv("ADDR_PARTNER")), checkins: newCheckins()}
	if err := p.fill(context.Background()); err != nil {
		log.Fatal(err)
	}
	p.offers.start()

	klog.SetLogger(klog.NewFilter(klog.GetLogger(), klog.FilterLevel(klog.LevelError)))
	server := khttp.NewServer(khttp.Address(os.Getenv("ADDR")), khttp.Timeout(20*time.Second))
	route := server.Route("/")
	route.GET("/members/{id:[0-9]+}", p.member)
	route.POST("/members/{id:[0-9]+}/checkins", p.checkin)
	route.GET("/offers", p.offer)
	route.GET("/members/{id:[0-9]+}/news", p.news)
	if err := kratos.New(kratos.Name("loyalty"), kratos.Server(server), kratos.StopTimeout(time.Second)).Run(); err != nil {
		log.Fatal(err)
	}
}

// fill writes the points of all members.
func (p *programme) fill(ctx context.Context) error {
	commands := make(rueidis.Commands, 0, members)
	for id := range members {
		commands = append(commands, p.redis.B().Hset().Key(key(id)).FieldValue().FieldValue("points", strconv.Itoa(id%5000)).FieldValue("tier", "silver").Build())
	}
	for _, said := range p.redis.DoMulti(ctx, commands...) {
		if err := said.Error(); err != nil {
			return err
		}
	}
	return nil
}

func key(id int) string { return fmt.Sprintf("member:%d", id%members) }

func number(ctx khttp.Context) int {
	id, _ := strconv.Atoi(ctx.Vars().Get("id")) // the route takes digits alone
	return id
}

// member shows the points of a member.
func (p *programme) member(ctx khttp.Context) error {
	found, err := p.redis.Do(ctx, p.redis.B().Hgetall().Key(key(number(ctx))).Build()).AsStrMap()
	if err != nil {
		return err
	}
	return ctx.JSON(http.StatusOK, found)
}

// checkin gives a member points for being in the shop.
func (p *programme) checkin(ctx khttp.Context) error {
	id := number(ctx)
	points, err := p.redis.Do(ctx, p.redis.B().Hincrby().Key(key(id)).Field("points").Increment(1).Build()).AsInt64()
	if err != nil {
		return err
	}
	p.checkins.follow(id)
	return ctx.JSON(http.StatusOK, map[string]int64{"points": points})
}

// offer shows the offers of all partners.
func (p *programme) offer(ctx khttp.Context) error {
	found, err := p.offers.get(ctx)
	if err != nil {
		return err
	}
	return ctx.Blob(http.StatusOK, "application/json", found)
}

// news waits for news, of which there are some within five seconds.
func (p *programme) news(ctx khttp.Context) error {
	select {
	case <-time.After(5 * time.Second):
	case <-ctx.Done():
	}
	return ctx.JSON(http.StatusOK, map[string]any{"news": nil})
}
