package shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.ws.rs.core.UriBuilder;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
import org.glassfish.jersey.jackson.JacksonFeature;
import org.glassfish.jersey.server.ResourceConfig;
import org.hibernate.SessionFactory;
import org.hibernate.boot.MetadataSources;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;

/** The back office of a shop: resources of Jersey on Grizzly, Hibernate and PostgreSQL. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        SessionFactory sessions = sessions();
        Prices prices = new Prices();

        ResourceConfig resources = new ResourceConfig(JacksonFeature.class)
            .register(new OrderResource(sessions))
            .register(new ExportResource(sessions, prices));
        HttpServer server = GrizzlyHttpServerFactory.createHttpServer(UriBuilder.fromUri("http://" + System.getenv("ADDR") + "/").build(), resources, false);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.start();
        Thread.currentThread().join();
    }

    private static SessionFactory sessions() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(16);
        return new MetadataSources(new StandardServiceRegistryBuilder()
            .applySetting("hibernate.connection.datasource", new HikariDataSource(config)).build())
            .addAnnotatedClass(Order.class)
            .addAnnotatedClass(Product.class)
            .buildMetadata().buildSessionFactory();
    }
}
