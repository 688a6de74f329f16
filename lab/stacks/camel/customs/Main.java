package customs;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.camel.component.http.HttpClientConfigurer;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;

/** The desk of a customs agency on Apache Camel: Undertow, SEDA, camel-sql on PostgreSQL, carriers and customs over HTTP. */
public class Main {
    /** The fault that is on; "off" for none. */
    static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        HikariDataSource db = new HikariDataSource();
        db.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        db.setUsername("shop");
        db.setMaximumPoolSize(12);

        org.apache.camel.main.Main camel = new org.apache.camel.main.Main();
        camel.configure().withName("customs").withJmxEnabled(false).withShutdownTimeout(2);
        camel.bind("db", db);
        // Routes say how often a call is made again, and when; the client makes it once.
        camel.bind("once", (HttpClientConfigurer) HttpClientBuilder::disableAutomaticRetries);
        camel.configure().addRoutesBuilder(new Parcels());
        camel.configure().addRoutesBuilder(new Declarations());
        camel.run();
    }
}
