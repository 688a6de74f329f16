package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

const (
	previewQueue = "previews"
	sheetQueue   = "sheets"
)

// job is what a task is about.
type job struct {
	Key   string `json:"key,omitempty"`
	Photo int    `json:"photo"`
}

// startWorkers starts the workers of both queues. Sheets are drawn one at a time, with the fault
// as many at a time as there may be. Previews are looked for each 10 ms, with the fault as often as asynq does by itself.
func startWorkers(p *previews) error {
	sheets := asynq.Config{Concurrency: 1, Queues: map[string]int{sheetQueue: 1}, LogLevel: asynq.ErrorLevel}
	if fault("sheets-at-once") {
		sheets.Concurrency = 100
	}
	small := asynq.Config{Concurrency: 8, Queues: map[string]int{previewQueue: 1}, LogLevel: asynq.ErrorLevel}
	if !fault("check-interval") {
		small.TaskCheckInterval = 10 * time.Millisecond
	}
	for _, c := range []asynq.Config{sheets, small} {
		mux := asynq.NewServeMux()
		mux.HandleFunc("sheet", drawSheet)
		mux.HandleFunc("preview", p.process)
		if err := asynq.NewServer(asynq.RedisClientOpt{Addr: redisAddress()}, c).Start(mux); err != nil {
			return err
		}
	}
	return nil
}

// orderSheets orders contact sheets of the films that came in, each four seconds.
func orderSheets(ctx context.Context, client *asynq.Client) {
	const films = 36
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(4 * time.Second):
		}
		for film := range films {
			payload, err := json.Marshal(job{Photo: n*films + film})
			if err != nil {
				panic(err) // of a number and no text
			}
			if _, err := client.EnqueueContext(ctx, asynq.NewTask("sheet", payload), asynq.Queue(sheetQueue), asynq.MaxRetry(0)); err != nil {
				fmt.Println("sheet:", err)
			}
		}
	}
}

// drawSheet draws the contact sheet of a film.
func drawSheet(_ context.Context, task *asynq.Task) error {
	var j job
	if err := json.Unmarshal(task.Payload(), &j); err != nil {
		return err
	}
	_, err := drawPhotos(j.Photo, 24, 240)
	return err
}
