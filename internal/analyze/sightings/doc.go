// Package sightings joins what several sources tell of one request: its client's row, lines of a proxy's and of a server's log, a span, and its
// states in a trace.
//
// Its opinion: a request is one thing, however many sources saw it. The population is the rows of the outermost source. A row takes the states of
// its traced request, and adds the time before the service saw that and the time until the answer was out. Traced requests without a row belong
// to other clients: a probe, a long poll.
//
// [Unite] finds the sources of one service and how far their clocks differ; [Join] combines what they tell. Both pair requests by ids where the
// sources share these, else by route and time, one to one ([Pairs]).
package sightings
