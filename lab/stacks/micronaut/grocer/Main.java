package grocer;

import io.micronaut.runtime.Micronaut;
import java.util.Map;

/** The accounts of a wholesale grocer on Micronaut, Netty and HikariCP: orders and turnovers in PostgreSQL, statements in a cache. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        String[] at = System.getenv("ADDR").split(":");
        Micronaut.build(args)
            .banner(false)
            .properties(Map.ofEntries(
                Map.entry("micronaut.server.host", at[0]),
                Map.entry("micronaut.server.port", at[1]),
                Map.entry("micronaut.server.thread-selection", fault("manual-selection") ? "MANUAL" : "BLOCKING"),
                Map.entry("micronaut.netty.event-loops.default.num-threads", 2),
                Map.entry("micronaut.executors.blocking.type", "FIXED"),
                Map.entry("micronaut.executors.blocking.n-threads", 24),
                Map.entry("datasources.default.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop"),
                Map.entry("datasources.default.username", "shop"),
                Map.entry("datasources.default.password", ""),
                Map.entry("datasources.default.maximum-pool-size", 16)))
            .start();
    }
}
