package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
)

// order is the payload of a message.
type order struct {
	Meter  int   `json:"meter"`
	Values []int `json:"values"`
}

// worker does what a topic asks for, and returns a receipt.
type worker interface {
	do(ctx context.Context, o order) (string, error)
}

type receipt struct {
	text string
	err  error
}

// bus hands messages to the workers of their topics and gives their receipts back to those
// who have asked.
type bus struct {
	channels map[string]*gochannel.GoChannel // by topic
	mu       sync.Mutex
	askers   map[string]chan receipt // by the UUID of the message
}

func startBus(workers map[string]worker) (*bus, error) {
	logger := watermill.NopLogger{}
	b := &bus{channels: make(map[string]*gochannel.GoChannel), askers: make(map[string]chan receipt)}
	router, err := message.NewRouter(message.RouterConfig{}, logger)
	if err != nil {
		return nil, err
	}
	for topic, w := range workers {
		b.channels[topic] = gochannel.NewGoChannel(settle(topic), logger)
		router.AddConsumerHandler(topic, topic, b.channels[topic], func(m *message.Message) error {
			b.work(w, m)
			return nil
		})
	}
	go func() { _ = router.Run(context.Background()) }() // it ends with the program
	<-router.Running()
	return b, nil
}

// settle says how a topic is handed on. With the fault an alarm is published when it has been
// handled, before which no other one of the topic is.
func settle(topic string) gochannel.Config {
	return gochannel.Config{OutputChannelBuffer: 64, BlockPublishUntilSubscriberAck: topic == "alarms" && fault("publish-until-ack")}
}

func (b *bus) work(w worker, m *message.Message) {
	var o order
	var r receipt
	if r.err = json.Unmarshal(m.Payload, &o); r.err == nil {
		r.text, r.err = w.do(context.Background(), o)
	}
	b.mu.Lock()
	asker := b.askers[m.UUID]
	delete(b.askers, m.UUID)
	b.mu.Unlock()
	if asker != nil {
		asker <- r
	}
}

// ask publishes a message and waits for its receipt.
func (b *bus) ask(ctx context.Context, topic string, o order) (any, error) {
	payload, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	m := message.NewMessage(watermill.NewUUID(), payload)
	asker := make(chan receipt, 1)
	b.mu.Lock()
	b.askers[m.UUID] = asker
	b.mu.Unlock()
	if err := b.channels[topic].Publish(topic, m); err != nil {
		return nil, err
	}
	select {
	case r := <-asker:
		return map[string]string{"receipt": r.text}, r.err
	case <-ctx.Done():
		b.mu.Lock()
		delete(b.askers, m.UUID)
		b.mu.Unlock()
		return nil, fmt.Errorf("no receipt from %s: %w", topic, ctx.Err())
	}
}
