package office;

import io.dropwizard.core.Application;
import io.dropwizard.core.setup.Bootstrap;
import io.dropwizard.core.setup.Environment;
import io.dropwizard.jdbi3.JdbiFactory;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.jdbi.v3.core.Jdbi;

/** The accounts office of a shop on Dropwizard: Jersey on Jetty, JDBI with the pool of Tomcat, MariaDB. */
public class Main extends Application<Settings> {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    /** The usual config.yml: the log goes to standard output by a queue of 256 lines, and none is thrown away. */
    private static final String CONFIG = """
        server:
          maxThreads: 64
          minThreads: 16
          applicationConnectors:
            - {type: http, bindHost: %s, port: %s}
          adminConnectors:
            - {type: http, bindHost: 127.0.0.1, port: 0}
          requestLog:
            appenders: []
        logging:
          level: INFO
          appenders:
            - {type: console, target: stdout, queueSize: 256, discardingThreshold: 0}
        database:
          driverClass: org.mariadb.jdbc.Driver
          url: jdbc:mariadb://%s/shop?useBulkStmts=true
          user: shop
          initialSize: 16
          minSize: 16
          maxSize: 16
          validationQuery: select 1
        """;

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        new Main().run("server", "config.yml");
    }

    @Override
    public void initialize(Bootstrap<Settings> bootstrap) {
        String[] at = System.getenv("ADDR").split(":");
        String config = CONFIG.formatted(at[0], at[1], System.getenv("ADDR_DB"));
        bootstrap.setConfigurationSourceProvider(name -> new ByteArrayInputStream(config.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public void run(Settings settings, Environment environment) {
        Jdbi db = new JdbiFactory().build(environment, settings.database, "mariadb");
        environment.jersey().register(new Orders(db));
        environment.jersey().register(new Payments(db));
    }
}
