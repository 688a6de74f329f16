package laundry;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** What a chain of laundries serves on Spring Boot: Undertow, JdbcTemplate and HikariCP on MariaDB, Jedis, drivers over HTTP. */
@SpringBootApplication
@EnableScheduling
@EnableTransactionManagement
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
        settings.put("server.undertow.threads.io", "2");
        settings.put("server.undertow.threads.worker", "60");
        settings.put("spring.main.banner-mode", "off");
        settings.put("spring.datasource.url", "jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        settings.put("spring.datasource.username", "shop");
        settings.put("spring.datasource.hikari.maximum-pool-size", "40");
        settings.put("spring.datasource.hikari.connection-timeout", "10000");
        SpringApplication application = new SpringApplication(Main.class);
        application.setDefaultProperties(settings);
        application.run(args);
    }
}
