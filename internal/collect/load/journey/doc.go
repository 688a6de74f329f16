// Package journey sends users on journeys through a site: they arrive on a schedule that does not wait
// for anybody, each with cookies, connections and a cache of its own, take one step after the other, and
// fetch with each page what a browser would.
//
// Its opinion is that of package load: what is late counts from when it was due. A user's first step is due
// at the arrival, the next one when the time to think is over; a redirect when the answer was there, a
// resource when the page was. How late the generator itself was is measured and told apart. A journey is a
// file of YAML, and what is wrong with it is said with its line before anything is sent.
//
// HTTP/1.1 is spoken over connections of the package's own, at most six to a host, which cost nothing while
// a user thinks; HTTP/2, where TLS negotiates it, by net/http.
package journey
