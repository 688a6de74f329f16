package meters;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.InetAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import ratpack.exec.Blocking;
import ratpack.exec.Promise;
import ratpack.handling.Chain;
import ratpack.handling.Context;
import ratpack.server.RatpackServer;

/** The electricity meters of a town on Ratpack: readings in PostgreSQL, tariffs over HTTP, the load of its grid in memory. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    private final HikariDataSource pool = pool();
    private final Tariffs tariffs = new Tariffs();
    private final Grid grid = new Grid();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    private Main() throws Exception {
        clock.scheduleAtFixedRate(grid::drift, 2, 2, TimeUnit.SECONDS);
    }

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        Main main = new Main();
        String[] at = System.getenv("ADDR").split(":");
        RatpackServer.start(server -> server
            .serverConfig(config -> config.development(false).address(InetAddress.getByName(at[0])).port(Integer.parseInt(at[1])).threads(4))
            .handlers(main::routes));
    }

    private void routes(Chain chain) {
        chain
            .get("meters/:id", ctx -> Blocking.get(() -> day(number(ctx, "id"))).then(found -> send(ctx, found)))
            .get("tariffs/:id", ctx -> tariffs.of(number(ctx, "id")).then(found -> send(ctx, found)))
            .get("districts/:east/:north", ctx -> send(ctx, "{\"watts\":" + grid.load(number(ctx, "east"), number(ctx, "north")) + "}"))
            // An operator who waits for an alarm keeps a request open for six seconds.
            .get("alarms/:id", ctx -> Promise.<String>async(down -> clock.schedule(() -> down.success("{\"alarm\":false}"), 6, TimeUnit.SECONDS)).then(found -> send(ctx, found)));
    }

    private static int number(Context ctx, String name) {
        return Integer.parseInt(ctx.getPathTokens().get(name));
    }

    private static void send(Context ctx, String found) {
        ctx.getResponse().send("application/json", found);
    }

    private String day(int meter) throws SQLException {
        try (Connection connection = pool.getConnection();
             PreparedStatement statement = connection.prepareStatement("select count(*), coalesce(sum(wh), 0) from readings where meter = ?")) {
            statement.setInt(1, meter);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return "{\"meter\":" + meter + ",\"hours\":" + rows.getInt(1) + ",\"wh\":" + rows.getLong(2) + "}";
            }
        }
    }

    private static HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(16);
        return new HikariDataSource(config);
    }
}
