package pharmacy;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** What a chain of pharmacies serves on Spring Boot with a virtual thread for each request: JPA and HikariCP on PostgreSQL, Lettuce on Redis, an insurer and a wholesaler by RestClient. */
@SpringBootApplication
@EnableScheduling
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        String[] at = System.getenv("ADDR").split(":");
        String[] redis = System.getenv("ADDR_REDIS").split(":");
        Map<String, Object> settings = new HashMap<>();
        settings.put("server.address", at[0]);
        settings.put("server.port", at[1]);
        settings.put("spring.threads.virtual.enabled", "true");
        settings.put("spring.main.banner-mode", "off");
        settings.put("spring.datasource.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.datasource.hikari.maximum-pool-size", "20");
        settings.put("spring.jpa.open-in-view", "false");
        settings.put("spring.jpa.hibernate.ddl-auto", "none");
        settings.put("spring.data.redis.host", redis[0]);
        settings.put("spring.data.redis.port", redis[1]);
        SpringApplication application = new SpringApplication(Main.class);
        application.setDefaultProperties(settings);
        application.run(args);
    }
}
