package shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
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

/** The shop on Undertow, HikariCP and MariaDB. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static HikariDataSource db;

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(24);
        db = new HikariDataSource(config);

        String[] at = System.getenv("ADDR").split(":");
        HttpHandler search = Main::search;
        HttpHandler routes = Handlers.pathTemplate()
            .add("/orders/{id}", new BlockingHandler(Main::order))
            .add("/checkout/{id}", new BlockingHandler(Main::checkout))
            .add("/quotes/{id}", fault("blocked-io-thread") ? Main::quote : new BlockingHandler(Main::quote))
            .add("/search", new BlockingHandler(search));
        Undertow.builder().addHttpListener(Integer.parseInt(at[1]), at[0]).setIoThreads(2).setWorkerThreads(32).setHandler(routes).build().start();
    }

    private static int id(HttpServerExchange exchange) {
        return Integer.parseInt(exchange.getQueryParameters().get("id").getFirst());
    }

    private static void answer(HttpServerExchange exchange, String json) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send(json);
    }

    private static void order(HttpServerExchange exchange) throws SQLException {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select total_cents from orders where id = ?")) {
            query.setInt(1, id(exchange));
            try (ResultSet rows = query.executeQuery()) {
                answer(exchange, "{\"cents\":" + (rows.next() ? rows.getLong(1) : 0) + "}");
            }
        }
    }

    private static void search(HttpServerExchange exchange) throws SQLException {
        boolean slow = fault("slow-query");
        String sql = slow ? "select id from orders where note like ? limit 10" : "select id from orders where reference = ?";
        String words = exchange.getQueryParameters().get("q").getFirst();
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement(sql)) {
            query.setString(1, slow ? "%no such " + words + "%" : "REF-" + words);
            int found = 0;
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    found++;
                }
            }
            answer(exchange, "{\"found\":" + found + "}");
        }
    }

    /** A sale. With the fault the payment provider is asked while the row of the product is locked. */
    private static void checkout(HttpServerExchange exchange) throws SQLException, IOException, InterruptedException {
        int product = id(exchange);
        boolean inside = fault("row-lock");
        if (!inside) {
            pay(product);
        }
        try (Connection one = db.getConnection()) {
            one.setAutoCommit(false);
            try (PreparedStatement update = one.prepareStatement("update products set stock = stock - 1 where id = ?")) {
                update.setInt(1, product);
                update.executeUpdate();
            }
            if (inside) {
                pay(product);
            }
            one.commit();
            one.setAutoCommit(true);
        }
        answer(exchange, "{\"sold\":" + product + "}");
    }

    private static void pay(int product) throws IOException, InterruptedException {
        ask(System.getenv("ADDR_PAYMENTS"), "/charge/" + product);
    }

    private static void quote(HttpServerExchange exchange) throws IOException, InterruptedException {
        answer(exchange, ask(System.getenv("ADDR_PAYMENTS"), "/quote/" + id(exchange)));
    }

    private static String ask(String address, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + path)).timeout(Duration.ofSeconds(20)).build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}
