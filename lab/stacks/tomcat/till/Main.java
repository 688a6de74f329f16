package till;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.jdbc.pool.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;

/** The back end of a shop's tills: servlets on Tomcat, its own pool of connections, MariaDB. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws LifecycleException {
        PoolProperties settings = new PoolProperties();
        settings.setUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        settings.setDriverClassName("org.mariadb.jdbc.Driver");
        settings.setUsername("shop");
        settings.setMaxActive(24);
        settings.setInitialSize(8);
        settings.setTestOnBorrow(true);
        settings.setValidationQuery("select 1");
        DataSource db = new DataSource(settings);

        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        String[] at = System.getenv("ADDR").split(":");
        Connector connector = new Connector();
        connector.setProperty("address", at[0]);
        connector.setPort(Integer.parseInt(at[1]));
        connector.setProperty("maxThreads", "64");
        tomcat.setConnector(connector);
        Context app = tomcat.addContext("", null);
        add(app, "articles", new Articles(db));
        add(app, "invoices", new Invoices(db));
        add(app, "rates", new Rates());
        add(app, "receipts", new Receipts());
        tomcat.start();
        tomcat.getServer().await();
    }

    private static void add(Context app, String name, HttpServlet servlet) {
        Tomcat.addServlet(app, name, servlet);
        app.addServletMappingDecoded("/" + name + "/*", name);
    }

    /** The number at the end of a path. */
    static int id(HttpServletRequest request) {
        return Integer.parseInt(request.getPathInfo().substring(1));
    }
}
