package huts;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** What an alpine club serves on Spring Boot: Jetty, jOOQ and HikariCP on PostgreSQL, wardens and a weather service over HTTP. */
@SpringBootApplication
@EnableAsync
@EnableScheduling
@EnableTransactionManagement
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        String[] at = System.getenv("ADDR").split(":");
        Map<String, Object> settings = new HashMap<>();
        settings.put("server.address", at[0]);
        settings.put("server.port", at[1]);
        settings.put("server.jetty.threads.max", fault("polls-take-threads") ? "24" : "120");
        settings.put("spring.main.banner-mode", "off");
        settings.put("spring.datasource.url", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.datasource.hikari.maximum-pool-size", "24");
        settings.put("spring.task.execution.thread-name-prefix", "letters-");
        settings.put("spring.task.execution.pool.core-size", fault("core-of-two") ? "2" : "24");
        settings.put("spring.task.execution.pool.max-size", "32"); // for the weekends
        SpringApplication application = new SpringApplication(Main.class);
        application.setDefaultProperties(settings);
        application.run(args);
    }
}
