package dotnet

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/threadpool"
)

// predicted is what the simulation of the pool says of awaiting instead of blocking,
// beside what was measured; nothing where the recording does not show what a request
// needs, or how many there are.
func (s *starving) predicted(n need) []cause.Prediction {
	of := s.situation(n, threadpool.Await, "")
	then, err := of.Case.Predict()
	if err != nil {
		return nil
	}
	now := &of.Measured
	return []cause.Prediction{
		prediction("requests finished", "1/s", now.Rate, then.Rate),
		prediction("mean latency", "ms", model.Unknown, then.Latency),
		prediction("p99", "ms", model.Unknown, then.P99),
		prediction("pool threads", "threads", now.Threads, then.Threads),
	}
}

func prediction(metric, unit string, now, then model.Estimate) cause.Prediction {
	return cause.Prediction{Metric: metric, Unit: unit, Now: cause.Number(now.Value), Then: cause.Number(then.Value), Low: cause.Number(then.Low), High: cause.Number(then.High)}
}
