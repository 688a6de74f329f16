package ferry;

import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.vertx.core.Vertx;
import io.vertx.core.http.PoolOptions;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import jakarta.inject.Singleton;

/** The clients that do not block. */
@Factory
class Clients {
    @Singleton
    @Bean(preDestroy = "close")
    Vertx vertx() {
        return Vertx.vertx();
    }

    @Singleton
    Pool pool(Vertx vertx) {
        String[] at = System.getenv("ADDR_DB").split(":");
        PgConnectOptions options = new PgConnectOptions().setHost(at[0]).setPort(Integer.parseInt(at[1])).setDatabase("shop").setUser("shop").setPassword("shop").setCachePreparedStatements(true);
        return PgBuilder.pool().with(new io.vertx.sqlclient.PoolOptions().setMaxSize(24)).connectingTo(options).using(vertx).build();
    }

    @Singleton
    WebClient web(Vertx vertx) {
        return WebClient.create(vertx, new WebClientOptions().setKeepAlive(true), new PoolOptions().setHttp1MaxSize(64));
    }
}
