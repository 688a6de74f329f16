package policies;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.openfeign.EnableFeignClients;

/** The policies of a travel insurer on Spring Boot with Spring Cloud OpenFeign, Resilience4j and JdbcTemplate. */
@SpringBootApplication
@EnableFeignClients
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
        settings.put("logging.level.root", "warn");
        settings.put("server.tomcat.threads.max", "120");
        settings.put("spring.datasource.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.datasource.hikari.maximum-pool-size", "24");
        settings.put("spring.cloud.openfeign.httpclient.hc5.enabled", "true");
        settings.put("spring.cloud.openfeign.httpclient.max-connections", "200");
        settings.put("spring.cloud.openfeign.httpclient.max-connections-per-route", fault("per-route") ? "2" : "100");
        settings.put("spring.cloud.openfeign.client.config.default.connect-timeout", "2000");
        settings.put("spring.cloud.openfeign.client.config.default.read-timeout", "15000");
        // What the underwriters may take: with the fault less than they take when they are busy, and then they are asked again.
        settings.put("spring.cloud.openfeign.client.config.underwriters.connect-timeout", "2000");
        settings.put("spring.cloud.openfeign.client.config.underwriters.read-timeout", fault("tight-timeout") ? "200" : "15000");
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }
}
