// Package sightings joins what several sources tell of one request: its client's row, a line of a server's log, and its
// states in a trace.
//
// Its opinion: a request is one thing, however many saw it. The population are the rows of who saw it from furthest outside;
// a row takes the states of the traced request that it is, the time before the service saw that and the time until the answer
// was out around it. Traced requests without a row are those of other clients: a probe, a long poll.
package sightings
