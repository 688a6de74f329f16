package shop;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A shop on Spring WebFlux: Reactor Netty, R2DBC on PostgreSQL, WebClient. */
@SpringBootApplication
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        String[] at = System.getenv("ADDR").split(":");
        Map<String, Object> settings = new HashMap<>();
        settings.put("server.address", at[0]);
        settings.put("server.port", at[1]);
        settings.put("spring.r2dbc.url", "r2dbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.r2dbc.username", "shop");
        settings.put("spring.r2dbc.password", "shop");
        settings.put("spring.r2dbc.pool.initial-size", "4");
        settings.put("spring.r2dbc.pool.max-size", "4");
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }
}
