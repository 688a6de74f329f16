package dotnet

import (
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/predict"
)

// predicted is what the simulation of the pool says of awaiting instead of blocking,
// beside what was measured; nothing where the recording does not show what a request
// needs, or how many there are.
func (s *starving) predicted(n need) []cause.Prediction {
	flying, _ := inFlight(s.c)
	fixed := predict.PoolCase{
		Version: s.c.Bundle.Subjects[s.c.Subject].Version, Cores: int(s.pool.cores), Connections: int(flying),
		Service: predict.Service{Seconds: n.seconds, From: n.from}, Pattern: predict.PoolAwait,
	}
	then, err := fixed.Predict()
	if err != nil {
		return nil
	}
	done := math.NaN()
	if l := s.c.Ledger; l != nil && l.Requests.To > l.Requests.From {
		done = float64(l.Requests.Count-l.Requests.Unfinished) / (float64(l.Requests.To-l.Requests.From) / 1e9)
	}
	return []cause.Prediction{
		prediction("requests finished", "1/s", done, then.Rate),
		prediction("mean latency", "ms", math.NaN(), then.Latency),
		prediction("p99", "ms", math.NaN(), then.P99),
		prediction("pool threads", "threads", s.pool.level(), then.Threads),
	}
}

func prediction(metric, unit string, now float64, then predict.Estimate) cause.Prediction {
	return cause.Prediction{Metric: metric, Unit: unit, Now: cause.Number(now), Then: cause.Number(then.Value), Low: cause.Number(then.Low), High: cause.Number(then.High)}
}
