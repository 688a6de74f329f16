// Package journey sends users on journeys through a site. They arrive on a schedule that waits for no response, each with cookies, connections
// and a cache of its own. A user takes one step after the other, and fetches with each page what a browser would.
//
// Its opinion is that of package load: a late request counts from its due time. A user's first step is due at the arrival, the next one after the
// think time, a redirect when the answer was there, a resource when the page was there. The generator's own lateness is measured separately. A
// journey is a file of YAML. Its mistakes are reported with their lines before any request is sent.
//
// The package implements HTTP/1.1 over its own connections, at most six to a host, which cost nothing while a user thinks. For HTTP/2, where TLS
// negotiates it, it uses net/http.
package journey
