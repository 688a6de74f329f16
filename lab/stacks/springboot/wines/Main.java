package wines;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/** What a wine merchant serves on Spring Boot: Tomcat, Spring Data JPA and HikariCP on PostgreSQL, Caffeine, a carrier by RestClient. */
@SpringBootApplication
@EnableCaching
@EnableAsync
@EnableScheduling
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
        settings.put("server.tomcat.threads.max", "60");
        settings.put("spring.main.banner-mode", "off");
        settings.put("spring.datasource.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.datasource.hikari.maximum-pool-size", "6");
        settings.put("spring.datasource.hikari.connection-timeout", "5000");
        settings.put("spring.jpa.open-in-view", fault("open-in-view") ? "true" : "false");
        settings.put("spring.jpa.hibernate.ddl-auto", "none");
        settings.put("spring.cache.cache-names", "bestsellers");
        settings.put("spring.cache.caffeine.spec", "maximumSize=100,expireAfterWrite=2s");
        settings.put("spring.task.execution.pool.core-size", "2");
        SpringApplication application = new SpringApplication(Main.class);
        application.setDefaultProperties(settings);
        application.run(args);
    }
}
