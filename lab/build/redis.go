package build

import "context"

// FindRedis returns a redis-server: $REDIS, the first on PATH, or one that
// dev/tools/redis.sh fetched. With fetch it fetches one where there is none.
func FindRedis(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return script(ctx, "redis.sh", fetch, say)
}
