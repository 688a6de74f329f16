package main

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// limits are the limiters of the agencies, by the name that the gateway hands on.
type limits struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

func newLimits() *limits { return &limits{limiters: make(map[string]*rate.Limiter)} }

// of returns the limiter of an agency: 400 requests a second, with the fault 20.
func (l *limits) of(agency string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.limiters[agency]
	if !ok {
		found = rate.NewLimiter(400, 40)
		if fault("agency-limit") {
			found = rate.NewLimiter(20, 1)
		}
		l.limiters[agency] = found
	}
	return found
}

// intercept lets a request wait until its agency may make one.
func (l *limits) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	agency := "public"
	if names := metadata.ValueFromIncomingContext(ctx, "agency"); len(names) > 0 {
		agency = names[0]
	}
	if err := l.of(agency).Wait(ctx); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	return handle(ctx, request)
}
