package laundry;

import org.springframework.stereotype.Component;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPooled;

/** Numbers for those who wait at a counter, in Redis. */
@Component
public class Numbers {
    private final JedisPooled redis;

    Numbers() {
        ConnectionPoolConfig config = new ConnectionPoolConfig();
        config.setMaxTotal(40);
        config.setMaxIdle(40);
        redis = new JedisPooled(HostAndPort.from(System.getenv("ADDR_REDIS")), config);
    }

    long next(int counter) {
        return redis.incr("counter:" + counter);
    }
}
