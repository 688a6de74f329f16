#!/usr/bin/env bash
# Prints the path of a PHP 8.2 FPM that has the extension redis: $PHP, the first php-fpm8.2 on PATH, or Debian's,
# fetched into .tools/php (12 MB). To have that anew: rm -r .tools/php, and again. dev/tools/program.sh says more.
# What is fetched is started without the host's php.ini, and with the extensions fetched beside it.
#
#   dev/tools/php.sh        find it, or fetch it
#   dev/tools/php.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=php
runs=php-fpm8.2
size='12 MB'
asks=-m
says=redis
packages=(php8.2-fpm php8.2-common php8.2-redis php8.2-igbinary libmagic1 libargon2-1 libsodium23 libxml2 libicu72 libpcre2-8-0 libssl3 libapparmor1 libacl1
	libsystemd0 libcrypt1 zlib1g liblzma5 libcap2 libgcrypt20 libgpg-error0 libzstd1 liblz4-1)
# The program that Debian built looks for its extensions below /usr: it is told where these are.
prepare() {
	local modules
	modules=$(dirname "$(find usr/lib/php -name redis.so | head -n 1)")
	[ -e "$modules/redis.so" ] || fail "the packages fetched hold no extension redis"
	mv usr/sbin/php-fpm8.2 usr/sbin/php-fpm
	cat >usr/sbin/php-fpm8.2 <<-END
		#!/usr/bin/env bash
		root=\$(dirname "\$(dirname "\$(dirname "\$(readlink -f "\$0")")")")
		exec -a php-fpm8.2 "\$root/usr/sbin/php-fpm" -n -d extension_dir="\$root/$modules" -d extension=igbinary.so -d extension=redis.so "\$@"
	END
	chmod +x usr/sbin/php-fpm8.2
}
program "$@"
