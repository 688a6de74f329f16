package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

func redisAddress() string { return os.Getenv("ADDR_REDIS") }

// previews are small pictures that workers draw, for which customers wait.
type previews struct {
	client *asynq.Client
	last   atomic.Int64

	mu      sync.Mutex
	waiting map[string]chan int
}

type preview struct {
	Photo int `json:"photo"`
	Bytes int `json:"bytes"`
}

func newPreviews(client *asynq.Client) *previews {
	return &previews{client: client, waiting: make(map[string]chan int)}
}

// draw has a worker draw the preview of a photo, and waits for it.
func (p *previews) draw(ctx context.Context, photo int) (preview, error) {
	key := strconv.FormatInt(p.last.Add(1), 36)
	drawn := make(chan int, 1)
	p.mu.Lock()
	p.waiting[key] = drawn
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, key)
	}()
	payload, err := json.Marshal(job{Key: key, Photo: photo})
	if err != nil {
		return preview{}, err
	}
	if _, err := p.client.EnqueueContext(ctx, asynq.NewTask("preview", payload), asynq.Queue(previewQueue), asynq.MaxRetry(2)); err != nil {
		return preview{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	select {
	case size := <-drawn:
		return preview{Photo: photo, Bytes: size}, nil
	case <-ctx.Done():
		return preview{}, ctx.Err()
	}
}

// process draws a preview and wakes who waits for it.
func (p *previews) process(_ context.Context, task *asynq.Task) error {
	var j job
	if err := json.Unmarshal(task.Payload(), &j); err != nil {
		return err
	}
	picture, err := drawPhotos(j.Photo, 1, 200)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting, ok := p.waiting[j.Key]; ok {
		waiting <- len(picture)
	}
	return nil
}
