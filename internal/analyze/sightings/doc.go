// Package sightings joins what several sources tell of one request: its client's row, lines of a proxy's and of a server's log, a
// span, and its states in a trace.
//
// Its opinion: a request is one thing, however many saw it. The population are the rows of who saw it from furthest outside;
// a row takes the states of the traced request that it is, the time before the service saw that and the time until the answer
// was out around it. Traced requests without a row are those of other clients: a probe, a long poll.
//
// [Unite] says which sources are of one service, and by how much their clocks differ; [Join] lays what they tell over each other. Both pair
// requests by ids where these are the same, else by route and time, one to one ([Pairs]).
package sightings
