package depots;

import com.google.gson.Gson;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;
import org.glassfish.grizzly.threadpool.ThreadPoolConfig;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;

/** The depots of a brewery on Grizzly and jOOQ: stocks and orders in PostgreSQL by HikariCP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final Logger LOG = Logger.getLogger("depots");
    private static final Gson GSON = new Gson();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    /** Finds what to answer, by the last part of the path. */
    private interface Finder {
        Object find(int id) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(24);
        DSLContext sql = DSL.using(new HikariDataSource(config), SQLDialect.POSTGRES, new Settings().withExecuteLogging(false));
        Orders orders = new Orders(sql);
        Transfers transfers = new Transfers(sql);

        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = new HttpServer();
        NetworkListener listener = new NetworkListener("http", at[0], Integer.parseInt(at[1]));
        listener.getTransport().setWorkerThreadPoolConfig(ThreadPoolConfig.defaultConfig().setPoolName("worker").setCorePoolSize(32).setMaxPoolSize(32));
        server.addListener(listener);
        server.getServerConfiguration().addHttpHandler(handle(orders::order), "/orders");
        server.getServerConfiguration().addHttpHandler(handle(orders::ofInn), "/inns");
        server.getServerConfiguration().addHttpHandler(handle(transfers::transfer), "/transfers");
        server.start();
        new CountDownLatch(1).await();
    }

    private static HttpHandler handle(Finder finder) {
        return new HttpHandler() {
            @Override
            public void service(Request request, Response response) throws Exception {
                String path = request.getRequestURI();
                response.setContentType("application/json");
                try {
                    Object found = finder.find(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)));
                    response.getWriter().write(GSON.toJson(found));
                } catch (Exception e) {
                    LOG.log(Level.WARNING, path, e);
                    response.setStatus(503);
                    response.getWriter().write(GSON.toJson(Map.of("error", String.valueOf(e.getMessage()))));
                }
            }
        };
    }
}
