package shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** The shop on Vert.x: one event loop, the reactive client of PostgreSQL, and JDBC where somebody wrote that. */
public class Main extends AbstractVerticle {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private Pool pool;
    private HikariDataSource jdbc;
    private HttpClient http;

    private static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        Vertx.vertx().deployVerticle(new Main()).onFailure(e -> {
            e.printStackTrace();
            System.exit(1);
        });
    }

    @Override
    public void start(Promise<Void> started) {
        String[] db = System.getenv("ADDR_DB").split(":");
        PgConnectOptions at = new PgConnectOptions().setHost(db[0]).setPort(Integer.parseInt(db[1])).setDatabase("shop").setUser("shop").setPassword("shop").setCachePreparedStatements(true);
        pool = PgBuilder.pool().with(new PoolOptions().setMaxSize(fault("pool-small") ? 2 : 16)).connectingTo(at).using(vertx).build();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(8);
        jdbc = new HikariDataSource(config);
        http = vertx.createHttpClient(new HttpClientOptions().setMaxPoolSize(64).setKeepAlive(true));

        Router router = Router.router(vertx);
        router.get("/orders/:id").handler(this::order);
        router.get("/customers/:id/turnover").handler(this::turnover);
        router.get("/search").handler(this::search);
        router.get("/quotes/:id").handler(this::quote);
        router.post("/login/:name").handler(this::login);
        String[] own = System.getenv("ADDR").split(":");
        vertx.createHttpServer().requestHandler(router).listen(Integer.parseInt(own[1]), own[0]).<Void>mapEmpty().onComplete(started);
    }

    private void order(RoutingContext c) {
        answer(c, "select id, customer_id, total_cents from orders where id = $1", Tuple.of(Integer.parseInt(c.pathParam("id"))));
    }

    private void search(RoutingContext c) {
        String words = c.request().getParam("q");
        if (fault("slow-query")) {
            answer(c, "select id, status from orders where note ilike $1 limit 10", Tuple.of("%no such " + words + "%"));
        } else {
            answer(c, "select id, status from orders where reference = $1", Tuple.of("REF-" + words));
        }
    }

    private void turnover(RoutingContext c) {
        int id = Integer.parseInt(c.pathParam("id"));
        if (fault("jdbc-on-loop")) {
            c.json(new JsonObject().put("cents", archived(id)));
            return;
        }
        answer(c, "select archived_turnover($1) as cents", Tuple.of(id));
    }

    /** The same by JDBC: the thread that calls it waits. */
    private long archived(int customer) {
        try (Connection one = jdbc.getConnection(); PreparedStatement query = one.prepareStatement("select archived_turnover(?)")) {
            query.setInt(1, customer);
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(RoutingContext c, String sql, Tuple values) {
        pool.preparedQuery(sql).execute(values).onSuccess(rows -> {
            JsonArray all = new JsonArray();
            for (Row row : rows) {
                all.add(row.toJson());
            }
            c.json(all);
        }).onFailure(c::fail);
    }

    private void quote(RoutingContext c) {
        String[] at = System.getenv("ADDR_SUPPLIER").split(":");
        http.request(HttpMethod.GET, Integer.parseInt(at[1]), at[0], "/quote/" + c.pathParam("id"))
            .compose(request -> request.send()).compose(response -> response.body())
            .onSuccess(body -> c.response().end(body)).onFailure(c::fail);
    }

    private void login(RoutingContext c) {
        String name = c.pathParam("name");
        if (fault("hash-on-loop")) {
            c.json(new JsonObject().put("name", name).put("length", hash(name).length));
            return;
        }
        vertx.executeBlocking(() -> hash(name), false).onSuccess(h -> c.json(new JsonObject().put("name", name).put("length", h.length))).onFailure(c::fail);
    }

    private static byte[] hash(String name) {
        PBEKeySpec spec = new PBEKeySpec(("secret of " + name).toCharArray(), "a salt for the shop".getBytes(StandardCharsets.UTF_8), 200_000, 256);
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
