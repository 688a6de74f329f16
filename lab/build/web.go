package build

import "context"

// FindNginx returns an nginx: $NGINX, the first on PATH, or one that dev/tools/nginx.sh
// fetched. With fetch it fetches one where there is none.
func FindNginx(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "nginx.sh", fetch, say)
}

// FindPHP returns a PHP 8.2 FPM that has the extension redis: $PHP, the first php-fpm8.2 on
// PATH, or one that dev/tools/php.sh fetched. With fetch it fetches one where there is none.
func FindPHP(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "php.sh", fetch, say)
}

// FindWrk returns a wrk, with which our load generator is compared: $WRK, the first on PATH, or one that dev/tools/wrk.sh
// fetched. With fetch it fetches one where there is none.
func FindWrk(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "wrk.sh", fetch, say)
}
