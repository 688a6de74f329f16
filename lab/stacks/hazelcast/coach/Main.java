package coach;

import com.hazelcast.config.Config;
import com.hazelcast.config.IndexConfig;
import com.hazelcast.config.IndexType;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MapConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A coach line on Jetty with an embedded member of Hazelcast: trips in its maps, orders in PostgreSQL, an operator over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        pool.setUsername("shop");
        pool.setMaximumPoolSize(12);
        HikariDataSource db = new HikariDataSource(pool);
        HazelcastInstance grid = startGrid();
        IMap<Integer, Trip> trips = grid.getMap("trips");
        trips.putAll(readTrips(db));

        Server server = new Server(new QueuedThreadPool(100, 8));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        String[] at = System.getenv("ADDR").split(":");
        connector.setHost(at[0]);
        connector.setPort(Integer.parseInt(at[1]));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(new Orders(db)), "/orders/*");
        context.addServlet(new ServletHolder(new Trips(trips)), "/trips/*");
        context.addServlet(new ServletHolder(new Departures(trips)), "/departures/*");
        context.addServlet(new ServletHolder(new Seats(trips)), "/seats/*");
        server.setHandler(context);
        server.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.stop();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }));
        server.join();
    }

    /** Starts the one member of the grid in this process. */
    private static HazelcastInstance startGrid() {
        Config config = new Config("coach");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "none");
        config.getNetworkConfig().setPublicAddress("127.0.0.1").setPort(0).setPortAutoIncrement(true);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        MapConfig trips = new MapConfig("trips").setBackupCount(0);
        if (!fault("no-index"))
            trips.addIndexConfig(new IndexConfig(IndexType.HASH, "stop"));
        config.addMapConfig(trips);
        return Hazelcast.newHazelcastInstance(config);
    }

    private static Map<Integer, Trip> readTrips(HikariDataSource db) throws SQLException {
        Map<Integer, Trip> trips = new HashMap<>();
        String sql = "select id, 'stop-' || id % 700, total_cents, reference from orders where id < 24000";
        try (Connection one = db.getConnection(); Statement query = one.createStatement(); ResultSet rows = query.executeQuery(sql)) {
            while (rows.next()) {
                trips.put(rows.getInt(1), new Trip(rows.getInt(1), rows.getString(2), rows.getInt(3), 60, rows.getString(4)));
            }
        }
        return trips;
    }
}
