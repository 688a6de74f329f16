package rates;

import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.annotation.Blocking;
import com.linecorp.armeria.server.annotation.Get;
import com.linecorp.armeria.server.annotation.Param;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Freight rates on Armeria: orders in PostgreSQL, rules in memory, a partner behind a bulkhead of Resilience4j. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private final DataSource db;
    private final Rules rules = new Rules();
    private final Partner partner = new Partner(System.getenv("ADDR_PARTNER"));

    Main(DataSource db) {
        this.db = db;
    }

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.setUsername("shop");
        settings.setMaximumPoolSize(12);
        String[] at = System.getenv("ADDR").split(":");
        Server server = Server.builder().http(new InetSocketAddress(at[0], Integer.parseInt(at[1]))).annotatedService(new Main(new HikariDataSource(settings))).build();
        server.closeOnJvmShutdown();
        server.start().join();
    }

    @Blocking
    @Get("/orders/{id}")
    public HttpResponse order(@Param("id") int id) throws SQLException {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select status, total_cents from orders where id = ?")) {
            query.setInt(1, id);
            try (ResultSet rows = query.executeQuery()) {
                if (!rows.next()) {
                    return HttpResponse.of(HttpStatus.NOT_FOUND);
                }
                return json("{\"status\":\"" + rows.getString(1) + "\",\"cents\":" + rows.getLong(2) + "}");
            }
        }
    }

    @Blocking
    @Get("/rates/{zone}")
    public HttpResponse rate(@Param("zone") int zone) {
        return json("{\"cents\":" + rules.rate(zone) + "}");
    }

    @Blocking
    @Get("/offers/{parcel}")
    public HttpResponse offer(@Param("parcel") String parcel) {
        return json(partner.offer(parcel));
    }

    private static HttpResponse json(String text) {
        return HttpResponse.of(MediaType.JSON_UTF_8, text);
    }
}
