// Package phpfpm records how busy the workers of a PHP-FPM are: it reads where its pools are
// configured, asks the status page of each that has one (pm.status_path) once a second, by
// FastCGI on the socket where the pool listens or on that of pm.status_listen, and looks up how many
// connections wait there that no worker has accepted. It switches nothing on and changes nothing;
// a pool without a status page is not asked for one.
//
// Its artifacts:
//
//	php-fpm.conf         the pools' settings about workers, sockets and logs; no other, which may be secret
//	php-fpm-status.txt   answers of the status page, as internal/format/phpfpm reads them
//
// Sources: https://www.php.net/manual/fpm.status.php, https://fastcgi-archives.github.io/FastCGI_Specification.html,
// sock_diag(7) for the backlog of UNIX sockets, which FPM does not tell.
//
// The package's opinion: where all workers are busy the status page waits for one as any request
// does, unless pm.status_listen gives it a worker of its own (8.0 on); so it is never asked twice
// at a time, and the backlog is looked up whether it answers or not.
package phpfpm

import "github.com/unstall/unstall/internal/collect/probe"

const name = "phpfpm"

// Probe records the pools of a PHP-FPM of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "pools of PHP-FPM: its status page, and how many wait for a worker",
	Find:  findAccess,
}
