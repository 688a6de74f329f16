package seeds;

import jakarta.servlet.DispatcherType;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import org.apache.ibatis.datasource.pooled.PooledDataSource;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/** A seed bank on Jetty 12 and MyBatis with its own pool: lots in PostgreSQL, prices of an exchange over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        String[] at = System.getenv("ADDR").split(":");
        SessionFilter sessions = new SessionFilter(connect());
        ServletContextHandler context = new ServletContextHandler();
        context.addFilter(new FilterHolder(sessions), "/*", EnumSet.of(DispatcherType.REQUEST));
        ServletHolder seeds = new ServletHolder(new SeedsServlet(sessions, new Exchange()));
        context.addServlet(seeds, "/lots/*");
        context.addServlet(seeds, "/shelves/*");
        ServletHolder news = new ServletHolder(new NewsServlet());
        news.setAsyncSupported(true);
        context.addServlet(news, "/news/*");
        Server server = new Server(new InetSocketAddress(at[0], Integer.parseInt(at[1])));
        server.setHandler(context);
        server.start();
        server.join();
    }

    private static SqlSessionFactory connect() {
        PooledDataSource pool = new PooledDataSource("org.postgresql.Driver", "jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop", "shop", "");
        pool.setPoolMaximumActiveConnections(5);
        pool.setPoolMaximumIdleConnections(5);
        Configuration configuration = new Configuration(new Environment("shop", new JdbcTransactionFactory(), pool));
        configuration.addMapper(Lots.class);
        return new SqlSessionFactoryBuilder().build(configuration);
    }
}
