package main

import (
	"fmt"
	"os"

	"github.com/zeromicro/go-zero/core/threading"
)

// couriers calls couriers, some at a time.
type couriers struct{ runner *threading.TaskRunner }

func newCouriers() *couriers {
	if fault("task-runner") {
		return &couriers{runner: threading.NewTaskRunner(2)}
	}
	return &couriers{runner: threading.NewTaskRunner(32)}
}

func (c *couriers) call(parcel int) (receipt, error) {
	type outcome struct {
		receipt receipt
		err     error
	}
	done := make(chan outcome, 1)
	c.runner.Schedule(func() {
		r, err := ask(os.Getenv("ADDR_COURIERS"), fmt.Sprintf("/calls/%d", parcel))
		done <- outcome{r, err}
	})
	o := <-done
	return o.receipt, o.err
}
