// Package phpfpm records how busy the workers of a PHP-FPM are. It reads the configuration of its pools. Once a second it asks the status page
// of each pool that has one (pm.status_path), by FastCGI on the pool's socket or on that of pm.status_listen, and reads how many connections
// wait there without being accepted. It switches nothing on and changes nothing; it does not ask a pool without a status page.
//
// Its artifacts:
//
//	php-fpm.conf         the pools' settings about workers, sockets and logs; no other, which may be secret
//	php-fpm-status.txt   answers of the status page, as internal/format/phpfpm reads them
//
// Sources: https://www.php.net/manual/fpm.status.php, https://fastcgi-archives.github.io/FastCGI_Specification.html,
// sock_diag(7) for the backlog of UNIX sockets, which FPM does not tell.
//
// The package's opinion: if all workers are busy, the status page waits for one like any request, unless pm.status_listen gives it a worker of
// its own (8.0 on). So there is only one request at a time, and the backlog is read whether the page answers or not.
package phpfpm

import "github.com/unstall/unstall/internal/collect/probe"

const name = "phpfpm"

// Probe records the pools of a PHP-FPM of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "pools of PHP-FPM: its status page, and how many wait for a worker",
	Find:  findAccess,
}
