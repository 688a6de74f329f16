import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;

/** Travel: legs of a journey are asked of the carriers side by side, in the pool that is there anyway. */
public class Main {
    static final Executor pool = "0".equals(System.getenv("FAULT")) ? Executors.newFixedThreadPool(64) : ForkJoinPool.commonPool();

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 400);
        server.createContext("/journey", exchange -> {
            byte[] body = journey(exchange.getRequestURI().getQuery()).getBytes();
            exchange.getResponseHeaders().add("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(80));
        server.start();
    }

    static String journey(String query) {
        List<CompletableFuture<String>> legs = List.of("train", "ferry", "bus").stream()
            .map(carrier -> CompletableFuture.supplyAsync(() -> fare(carrier, query), pool))
            .collect(Collectors.toList());
        return legs.stream().map(CompletableFuture::join).collect(Collectors.joining("; "));
    }

    static final ThreadLocal<Socket> carriers = ThreadLocal.withInitial(() -> {
        try {
            String[] at = System.getenv("ADDR_CARRIERS").split(":");
            Socket s = new Socket(at[0], Integer.parseInt(at[1]));
            s.setTcpNoDelay(true);
            return s;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    });

    static String fare(String carrier, String query) {
        try {
            Socket s = carriers.get();
            new PrintWriter(s.getOutputStream(), true).println(carrier + " " + query);
            return new BufferedReader(new InputStreamReader(s.getInputStream()), 256).readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
