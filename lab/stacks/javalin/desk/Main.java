package desk;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.javalin.Javalin;
import io.javalin.http.NotFoundResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The shipping desk of a shop on Javalin: orders in PostgreSQL, tariffs, labels and offers of carriers over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.setUsername("shop");
        settings.setMaximumPoolSize(12);
        HikariDataSource db = new HikariDataSource(settings);
        Carriers carriers = new Carriers(System.getenv("ADDR_CARRIERS"));
        Tariffs tariffs = new Tariffs(carriers);
        Labels labels = new Labels(carriers);
        Offers offers = new Offers(carriers);

        Javalin app = Javalin.create(config -> {
            config.showJavalinBanner = false;
            config.jetty.threadPool = new QueuedThreadPool(120, 8);
        });
        app.get("/orders/{id}", ctx -> ctx.json(order(db, Integer.parseInt(ctx.pathParam("id")))));
        app.get("/tariffs/{zone}", ctx -> ctx.json(Map.of("zone", ctx.pathParam("zone"), "tariff", tariffs.of("zone-" + ctx.pathParam("zone")))));
        app.post("/labels/{id}", ctx -> ctx.json(Map.of("label", labels.print(ctx.pathParam("id")))));
        app.get("/offers/{id}", ctx -> ctx.json(offers.best(ctx.pathParam("id"))));
        Runtime.getRuntime().addShutdownHook(new Thread(app::stop));
        String[] at = System.getenv("ADDR").split(":");
        app.start(at[0], Integer.parseInt(at[1]));
    }

    private static Map<String, Object> order(HikariDataSource db, int id) throws SQLException {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select status, total_cents from orders where id = ?")) {
            query.setInt(1, id);
            try (ResultSet rows = query.executeQuery()) {
                if (!rows.next()) {
                    throw new NotFoundResponse("there is no order " + id);
                }
                return Map.of("order", id, "status", rows.getString(1), "cents", rows.getLong(2));
            }
        }
    }
}
