package dealers;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The dealers of a tool maker on Spring for GraphQL: Jetty, HikariCP and JDBC on PostgreSQL. */
@SpringBootApplication
public class Main {
    /** The fault that is on; "off" for none. */
    static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        String[] at = System.getenv("ADDR").split(":");
        Map<String, Object> settings = new HashMap<>();
        settings.put("server.address", at[0]);
        settings.put("server.port", at[1]);
        settings.put("spring.datasource.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.graphql.schema.introspection.enabled", "false");
        settings.put("spring.main.banner-mode", "off");
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }
}
