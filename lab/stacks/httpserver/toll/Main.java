package toll;

import com.google.gson.Gson;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The toll of motorways on the HTTP server of the JDK: MariaDB by HikariCP, a registry of vehicles over HTTP, a journal in a file. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final Logger LOG = Logger.getLogger("toll");
    private static final Gson GSON = new Gson();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    /** Finds what to answer, by the last part of the path. */
    private interface Finder {
        Object find(String id) throws Exception;
    }

    public static void main(String[] args) throws IOException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(16);
        Tolls tolls = new Tolls(new HikariDataSource(config));
        Registry registry = new Registry(System.getenv("ADDR_REGISTRY"));
        Journal journal = new Journal("passages.journal");

        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 256);
        server.createContext("/roads/", handle(tolls::road));
        server.createContext("/bills/", handle(tolls::bill));
        server.createContext("/vehicles/", handle(registry::vehicle));
        server.createContext("/passages/", handle(journal::write));
        if (!fault("no-executor")) { // without one, each request is handled by the thread that accepts connections
            server.setExecutor(Executors.newFixedThreadPool(32));
        }
        server.start();
    }

    private static HttpHandler handle(Finder finder) {
        return exchange -> {
            String path = exchange.getRequestURI().getPath();
            try {
                exchange.getRequestBody().readAllBytes();
                send(exchange, 200, GSON.toJson(finder.find(path.substring(path.lastIndexOf('/') + 1))));
            } catch (Exception e) {
                LOG.log(Level.WARNING, path, e);
                send(exchange, 503, "{}");
            }
        };
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
