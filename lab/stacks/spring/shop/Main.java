package shop;

import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A shop on Spring Boot: Tomcat, HikariCP, JPA and JDBC on PostgreSQL, Logback. */
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
        settings.put("spring.datasource.hikari.maximum-pool-size", fault("pool-small") ? "2" : "16");
        settings.put("spring.datasource.hikari.minimum-idle", fault("pool-small") ? "2" : "16");
        settings.put("spring.jpa.open-in-view", "false");
        settings.put("spring.jpa.hibernate.ddl-auto", "none");
        settings.put("spring.threads.virtual.enabled", System.getenv().getOrDefault("VIRTUAL", "false"));
        settings.put("server.tomcat.threads.max", fault("worker-threads") ? "4" : "100");
        settings.put("server.tomcat.threads.min-spare", fault("worker-threads") ? "4" : "10");
        SpringApplication app = new SpringApplication(Main.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }
}
