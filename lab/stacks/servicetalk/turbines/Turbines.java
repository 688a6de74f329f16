package turbines;

import static io.servicetalk.concurrent.reactivestreams.ReactiveStreamsAdapters.fromReactiveStreamsPublisher;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.servicetalk.concurrent.api.Single;
import java.time.Duration;
import java.util.List;
import org.mariadb.r2dbc.MariadbConnectionConfiguration;
import org.mariadb.r2dbc.MariadbConnectionFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Turbines and the open orders for them in MariaDB. */
class Turbines {
    private final ConnectionPool pool;

    Turbines() {
        String[] at = System.getenv("ADDR_DB").split(":");
        MariadbConnectionConfiguration db = MariadbConnectionConfiguration.builder()
            .host(at[0]).port(Integer.parseInt(at[1])).username("shop").database("shop").build();
        pool = new ConnectionPool(ConnectionPoolConfiguration.builder(new MariadbConnectionFactory(db))
            .initialSize(12).maxSize(12).maxAcquireTime(Duration.ofSeconds(20)).build());
        pool.warmup().block();
    }

    Single<String> find(int id) {
        Flux<String> found = Flux.usingWhen(pool.create(), connection -> Flux.from(connection
                .createStatement("select name, site, megawatt from turbines where id = ?").bind(0, id % 2000).execute())
            .flatMap(result -> result.map((row, meta) -> String.format("{\"name\":\"%s\",\"site\":\"%s\",\"megawatt\":%s}",
                row.get(0, String.class), row.get(1, String.class), row.get(2)))), Connection::close);
        return fromReactiveStreamsPublisher(found).firstOrError();
    }

    Single<List<String>> orders(int turbine) {
        Mono<List<String>> found = Flux.usingWhen(pool.create(), connection -> Flux.from(connection
                .createStatement("select part, hours, note from orders where turbine_id = ? order by id").bind(0, turbine % 2000).execute())
            .flatMap(result -> result.map((row, meta) -> row.get(0, String.class) + ", " + row.get(1) + " h: " + row.get(2, String.class))), Connection::close)
            .collectList();
        return fromReactiveStreamsPublisher(found).firstOrError();
    }
}
