package edge;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;

/** The gateway of a train company on Spring Cloud Gateway: timetables and seats behind it, accounts that say who may ask. */
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
        settings.put("spring.cloud.gateway.httpclient.connect-timeout", "2000");
        settings.put("spring.cloud.gateway.httpclient.response-timeout", "20s");
        settings.put("spring.cloud.gateway.httpclient.pool.type", "FIXED");
        // This many to each service behind the gateway.
        settings.put("spring.cloud.gateway.httpclient.pool.max-connections", fault("few-connections") ? "3" : "64");
        settings.put("spring.cloud.gateway.httpclient.pool.acquire-timeout", "15000");
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }

    @Bean
    RouteLocator routes(RouteLocatorBuilder builder) {
        return builder.routes()
            .route("timetables", r -> r.path("/timetables/**").filters(f -> f.addRequestHeader("X-Gateway", "edge")).uri("http://" + System.getenv("ADDR_TIMETABLES")))
            .route("seats", r -> r.path("/seats/**").filters(f -> f.stripPrefix(1).addResponseHeader("Cache-Control", "no-store")).uri("http://" + System.getenv("ADDR_SEATS")))
            .build();
    }
}
