package shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The shop on Jetty's servlets, HikariCP and PostgreSQL. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(16);
        HikariDataSource db = new HikariDataSource(config);

        // An acceptor, a selector and its stand-in take three of the threads.
        QueuedThreadPool threads = new QueuedThreadPool(fault("worker-threads") ? 6 : 100, 4);
        threads.setReservedThreads(0);
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        String[] at = System.getenv("ADDR").split(":");
        connector.setHost(at[0]);
        connector.setPort(Integer.parseInt(at[1]));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(new Orders(db)), "/orders/*");
        context.addServlet(new ServletHolder(new Search(db)), "/search");
        context.addServlet(new ServletHolder(new Quotes()), "/quotes/*");
        server.setHandler(context);
        server.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.stop();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }));
        server.join();
    }

    static int last(HttpServletRequest request) {
        return Integer.parseInt(request.getPathInfo().substring(1));
    }

    static class Orders extends HttpServlet {
        private final transient HikariDataSource db;

        Orders(HikariDataSource db) {
            this.db = db;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select total_cents from orders where id = ?")) {
                query.setInt(1, last(request));
                try (ResultSet rows = query.executeQuery()) {
                    response.setContentType("application/json");
                    response.getWriter().println("{\"cents\":" + (rows.next() ? rows.getLong(1) : 0) + "}");
                }
            } catch (SQLException e) {
                throw new IOException(e);
            }
        }
    }

    static class Search extends HttpServlet {
        private final transient HikariDataSource db;

        Search(HikariDataSource db) {
            this.db = db;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            boolean slow = fault("slow-query");
            String sql = slow ? "select id from orders where note ilike ? limit 10" : "select id from orders where reference = ?";
            String words = request.getParameter("q");
            try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement(sql)) {
                query.setString(1, slow ? "%no such " + words + "%" : "REF-" + words);
                int found = 0;
                try (ResultSet rows = query.executeQuery()) {
                    while (rows.next()) {
                        found++;
                    }
                }
                response.setContentType("application/json");
                response.getWriter().println("{\"found\":" + found + "}");
            } catch (SQLException e) {
                throw new IOException(e);
            }
        }
    }

    static class Quotes extends HttpServlet {
        private final transient HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            HttpRequest quote = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_SUPPLIER") + "/quote/" + last(request))).timeout(Duration.ofSeconds(20)).build();
            try {
                String body = client.send(quote, HttpResponse.BodyHandlers.ofString()).body();
                response.setContentType("application/json");
                response.getWriter().println(body);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException(e);
            }
        }
    }
}
