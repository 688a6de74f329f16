package ferry;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.micronaut.runtime.Micronaut;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** What a ferry line serves on Micronaut: bookings in PostgreSQL by the reactive client of Vert.x, berths of harbours, a printer of tickets and a weather service over HTTP. */
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
            .properties(Map.of(
                "micronaut.server.host", at[0],
                "micronaut.server.port", at[1],
                "micronaut.netty.event-loops.default.num-threads", 2))
            .start();
    }
}
