package main

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gogf/gf/v2/database/gdb"
	"github.com/gogf/gf/v2/frame/g"
)

const (
	stationCount = 3000
	days         = 250
)

// stations are the stations and what was charged at them, in PostgreSQL, and their map in memory.
type stations struct {
	db  gdb.DB
	all []placed
}

type station struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	City  string `json:"city"`
	Plugs int    `json:"plugs"`
}

type session struct {
	ID        int    `json:"id"`
	WattHours int    `json:"watt_hours"`
	Cents     int    `json:"cents"`
	StartedAt string `json:"started_at"`
}

// placed is a station at its place.
type placed struct {
	station
	north, east float64
}

func (s *stations) find(ctx context.Context, id int) (any, error) {
	var found *station
	err := s.db.Model("stations").Ctx(ctx).Where("id", id%stationCount).Scan(&found)
	return found, err
}

func (s *stations) sessions(ctx context.Context, id int) (any, error) {
	var found []session
	err := s.db.Model("sessions").Ctx(ctx).Where("station_id", id%stationCount).OrderDesc("started_at").Limit(20).Scan(&found)
	return found, err
}

// day is what was charged on a day, of which the begin and the end are compared; with the fault its date as text.
func (s *stations) day(ctx context.Context, id int) (any, error) {
	begin := time.Date(2026, 1, 1+id%days, 0, 0, 0, 0, time.UTC)
	sessions := s.db.Model("sessions").Ctx(ctx).Fields("count(*) as sessions, coalesce(sum(cents), 0) as cents, coalesce(sum(watt_hours), 0) as watt_hours")
	if fault("day-as-text") {
		sessions = sessions.Where("to_char(started_at, 'YYYY-MM-DD') = ?", begin.Format(time.DateOnly))
	} else {
		sessions = sessions.Where("started_at >= ? and started_at < ?", begin.Format(time.DateTime), begin.AddDate(0, 0, 1).Format(time.DateTime))
	}
	found, err := sessions.One()
	if err != nil {
		return nil, err
	}
	return g.Map{"day": begin.Format(time.DateOnly), "sessions": found["sessions"].Int(), "cents": found["cents"].Int64(), "watt_hours": found["watt_hours"].Int64()}, nil
}

// loadMap reads all stations and gives each its place.
func (s *stations) loadMap(ctx context.Context) error {
	var all []station
	if err := s.db.Model("stations").Ctx(ctx).OrderAsc("id").Scan(&all); err != nil {
		return err
	}
	for _, one := range all {
		s.all = append(s.all, placed{one, 43 + float64(one.ID*37%900)/100, 2 + float64(one.ID*91%1100)/100})
	}
	return nil
}

// near is a station on the map, with its distance.
type near struct {
	station
	Kilometres float64 `json:"kilometres"`
}

// around has the 400 stations that are nearest to a place.
func (s *stations) around(_ context.Context, id int) (any, error) {
	north, east := 43+float64(id%90)/10, 2+float64(id%110)/10
	found := make([]near, 0, len(s.all))
	for _, one := range s.all {
		found = append(found, near{one.station, distance(north, east, one.north, one.east)})
	}
	slices.SortFunc(found, func(a, b near) int { return int(1000 * (a.Kilometres - b.Kilometres)) })
	return found[:400], nil
}

// distance is that of two places on the globe in kilometres.
func distance(north1, east1, north2, east2 float64) float64 {
	const radius = 6371
	rad := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	a := math.Pow(math.Sin(rad(north2-north1)/2), 2) + math.Cos(rad(north1))*math.Cos(rad(north2))*math.Pow(math.Sin(rad(east2-east1)/2), 2)
	return 2 * radius * math.Asin(math.Sqrt(a))
}
