package claims;

import jakarta.xml.ws.Endpoint;
import java.time.Duration;
import org.apache.commons.dbcp2.BasicDataSource;

/** The claims of an insurance company as a SOAP service: Apache CXF on Jetty, MariaDB by DBCP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        BasicDataSource db = new BasicDataSource();
        db.setUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        db.setUsername("shop");
        db.setMaxTotal(16);
        db.setMaxIdle(16);
        db.setMaxWait(Duration.ofSeconds(10));
        db.setRemoveAbandonedOnBorrow(true);
        db.setRemoveAbandonedTimeout(Duration.ofSeconds(5));
        Endpoint.publish("http://" + System.getenv("ADDR") + "/claims", new ClaimsService(new ClaimStore(db)));
        Thread.currentThread().join();
    }
}
