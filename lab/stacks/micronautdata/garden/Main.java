package garden;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.micronaut.runtime.Micronaut;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** What a garden centre serves on Micronaut: orders and plants in PostgreSQL by Micronaut Data JDBC and HikariCP, offers that a job works out, a driver over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        String[] at = System.getenv("ADDR").split(":");
        Micronaut.build(args)
            .banner(false)
            .properties(Map.ofEntries(
                Map.entry("micronaut.server.host", at[0]),
                Map.entry("micronaut.server.port", at[1]),
                Map.entry("micronaut.executors.blocking.type", "FIXED"),
                Map.entry("micronaut.executors.blocking.n-threads", 40),
                Map.entry("datasources.default.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop"),
                Map.entry("datasources.default.username", "shop"),
                Map.entry("datasources.default.password", ""),
                Map.entry("datasources.default.dialect", "POSTGRES"),
                Map.entry("datasources.default.maximum-pool-size", 16)))
            .start();
    }
}
